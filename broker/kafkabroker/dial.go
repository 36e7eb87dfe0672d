package kafkabroker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker/brokerkit"
)

// Dial returns a destination over connections of its own, which Close closes.
// brokers is the address of one broker, or of several of one cluster with commas
// between ("kafka-1:9092,kafka-2:9092"); the others are found through them.
//
// A broker that is not there is no error: messages are Unavailable until it is. So
// is a login that is refused, with Misconfigured. An error means that brokers or
// options cannot be used, or that ctx is over.
func Dial(ctx context.Context, brokers string, o Options) (*Destination, error) {
	seeds, err := addresses(brokers)
	if err := errors.Join(o.Validate(), err); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d := &Destination{brokers: seeds, options: o.withDefaults(), seen: new(trouble)}
	if d.control, err = kgo.NewClient(d.options.controlOptions(d.brokers, d.seen)...); err != nil {
		return nil, fmt.Errorf("kafkabroker: the client refuses the options: %w; check them", err)
	}
	d.pool = &pool{seen: d.seen, make: func() (*kgo.Client, error) {
		return kgo.NewClient(d.options.producerOptions(d.brokers, d.seen, d.topics.largestRequest())...)
	}}
	ask := asking{d.control, d.seen}
	d.topics = &topics{ask: ask, create: d.options.Create, recheck: d.options.Recheck, renew: d.pool.renew}
	d.lanes = lanes{topics: topics{ask: ask, create: d.options.laneTopic(), recheck: d.options.Recheck, renew: func() {}}}
	d.gather = gatherer{d: d}
	return d, nil
}

// dialTimeout is how long a TCP connection, and then TLS, may take.
const dialTimeout = 2 * time.Second

func (l Login) dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	dial := l.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	if l.TLS == nil {
		return dial
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		host, _, _ := net.SplitHostPort(address) // it was dialled, so it can be split
		ctx, cancel := context.WithTimeout(ctx, 2*dialTimeout)
		defer cancel()
		over := tls.Client(conn, brokerkit.ClientTLS(l.TLS, true, host))
		if err := over.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(&tlsError{err}, conn.Close())
		}
		return over, nil
	}
}

// tlsError says that a broker was there and the TLS handshake failed.
type tlsError struct{ err error }

func (e *tlsError) Error() string { return "TLS: " + e.err.Error() }

func (e *tlsError) Unwrap() error { return e.err }

// ValidBrokers says whether Dial could use brokers, without trying it. An error
// names all that is wrong.
func ValidBrokers(brokers string) error {
	_, err := addresses(brokers)
	return err
}

func addresses(brokers string) ([]string, error) {
	return adapter.Addresses(brokers, "broker", "host:9092")
}
