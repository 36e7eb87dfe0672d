package natsbroker

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker/brokerkit"
)

// Dial returns a destination over a connection of its own, which Close closes.
// urls is one URL, or several of one cluster with commas between
// ("nats://a:4222,nats://b:4222"); user and password may stand in it.
//
// A server that is not there is no error: the connection is tried for ever, and
// messages are Unavailable until then. So is a login that is refused, with
// Misconfigured. An error means that urls or options cannot be used, or that ctx
// is over.
func Dial(ctx context.Context, urls string, o Options) (*Destination, error) {
	if err := errors.Join(o.Validate(), ValidURLs(urls)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	js, trouble, err := connect(ctx, urls, o.withDefaults().Login)
	if err != nil {
		return nil, err
	}
	d := newDestination(js, o)
	d.owned = trouble
	return d, nil
}

// connect makes a connection of our own, with what says why it is not connected.
func connect(ctx context.Context, urls string, l Login) (jetstream.JetStream, *trouble, error) {
	trouble := new(trouble)
	nc, err := nats.Connect(urls, append(connectionOptions(ctx, l), trouble.watch()...)...)
	if err != nil {
		return nil, nil, fmt.Errorf("natsbroker: connect: %w; check options and URL", redacted(err))
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, nil, fmt.Errorf("natsbroker: set JetStream up: %w; check the options", err)
	}
	return js, trouble, nil
}

// trouble is why a connection of our own is not connected. The client tells it
// only to a handler: its LastError is emptied with each attempt.
type trouble struct {
	mu  sync.Mutex
	err error
}

func (t *trouble) set(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
}

func (t *trouble) get() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// watch has the client keep it up to date.
func (t *trouble) watch() []nats.Option {
	return []nats.Option{
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { t.set(err) }),
		nats.ConnectHandler(func(*nats.Conn) { t.set(nil) }),
		nats.ReconnectHandler(func(*nats.Conn) { t.set(nil) }),
	}
}

// connectionOptions make a connection that outlives every outage, notices a
// server that is frozen, and keeps nothing to send later: what a relay was told
// was not sent must not be sent after all.
func connectionOptions(ctx context.Context, l Login) []nats.Option {
	timeout := 5 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		timeout = max(min(timeout, time.Until(deadline)), 100*time.Millisecond)
	}
	options := []nats.Option{
		nats.Name(l.Name),
		nats.Timeout(timeout),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(),
		nats.ReconnectWait(250 * time.Millisecond), // so long at most it goes unnoticed that a server is back
		nats.ReconnectJitter(100*time.Millisecond, 250*time.Millisecond),
		nats.ReconnectBufSize(-1),
		nats.PingInterval(10 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.FlusherTimeout(10 * time.Second),
		// The default prints to standard error; what matters comes back in results.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	switch {
	case l.User != "" || l.Password != "":
		options = append(options, nats.UserInfo(l.User, l.Password))
	case l.Token != "":
		options = append(options, nats.Token(l.Token))
	case l.CredentialsFile != "":
		options = append(options, nats.UserCredentials(l.CredentialsFile))
	case l.NKeyFile != "":
		options = append(options, nkey(l.NKeyFile))
	}
	if l.TLS != nil {
		options = append(options, nats.Secure(l.TLS))
	}
	return options
}

// nkey defers an error of the file to where options are applied.
func nkey(file string) nats.Option {
	return func(o *nats.Options) error {
		option, err := nats.NkeyOptionFromSeed(file)
		if err != nil {
			return err
		}
		return option(o)
	}
}

// ValidURLs says whether Dial could use urls, without trying it. An error names all
// that is wrong, and never quotes a URL, which may hold a password.
func ValidURLs(urls string) error {
	return brokerkit.URLs{
		Adapter: adapter, Example: "nats://host:4222", Schemes: []string{"nats", "tls", "ws", "wss"}, Default: "nats",
	}.Each(urls, func(*url.URL) string { return "" })
}

// redacted keeps the text of a URL out of an error.
func redacted(err error) error {
	if _, ok := errors.AsType[*url.Error](err); ok {
		return errors.New("a URL cannot be read")
	}
	return err
}
