package rabbitbroker

import (
	"context"
	"errors"
	"net/url"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker/brokerkit"
)

// host is one of the servers, and how its URL says to log in.
type host struct {
	name, vhost    string
	port           int
	tls            bool
	user, password string
}

// ValidURLs says whether Dial could use urls, without trying it. An error names all
// that is wrong, and never quotes a URL, which may hold a password.
func ValidURLs(urls string) error {
	_, err := parseURLs(urls)
	return err
}

func parseURLs(urls string) (hosts []host, err error) {
	list := brokerkit.URLs{Adapter: adapter, Example: "amqp://user:password@host:5672/vhost", Schemes: []string{"amqp", "amqps"}} //nolint:gosec // it shows where they stand
	err = list.Each(urls, func(u *url.URL) (fault string) {
		if u.RawQuery != "" || u.Fragment != "" {
			return "has parameters, which belong into Options.Login"
		}
		parsed, err := amqp.ParseURI(u.String())
		if err != nil {
			return "cannot be read"
		}
		if len(parsed.Vhost) > maxShort {
			return "names a virtual host of more than 255 bytes"
		}
		hosts = append(hosts, host{
			name: parsed.Host, port: parsed.Port, vhost: parsed.Vhost, tls: u.Scheme == "amqps",
			user: parsed.Username, password: parsed.Password,
		})
		return ""
	})
	return hosts, err
}

// Dial returns a destination over a connection of its own, which Close closes.
// urls is one URL, or several of one cluster with commas between
// ("amqp://a:5672/vhost,amqp://b:5672/vhost"), tried in turn; user, password and
// virtual host may stand in each, or in Options.Login for all.
//
// Dial waits for the first attempt, 5 s at most. A server that is not there is no
// error: it is tried for ever, and messages are Unavailable until then. So is a
// login that is refused, with Misconfigured. An error means that urls or options
// cannot be used, or that ctx is over.
func Dial(ctx context.Context, urls string, o Options) (*Destination, error) {
	if err := errors.Join(o.Validate(), ValidURLs(urls)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := newDestination(urls, o.withDefaults())
	if err != nil {
		return nil, err
	}
	first := time.NewTimer(dialTimeout)
	defer first.Stop()
	select {
	case <-d.link.tried:
	case <-first.C:
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), d.Close(context.WithoutCancel(ctx)))
	}
	return d, nil
}
