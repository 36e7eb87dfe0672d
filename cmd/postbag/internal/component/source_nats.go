package component

import (
	"context"
	"time"

	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/source"
)

// NATSSource takes messages from a stream of JetStream.
type NATSSource struct {
	NATSConnection

	// The stream, which must exist. Required.
	Stream string `yaml:"stream"`
	// The durable consumer. Processes that name the same one share its messages. It is made
	// if it does not exist. Required.
	Consumer string `yaml:"consumer"`
	// The subjects to take, wildcards allowed.
	Subjects []string `yaml:"subjects" otherwise:"the consumer's; all of the stream if it is made"`
	// none shares single messages out. stream gives all to one process in sequence, and
	// others stand by; it needs NATS 2.14 or newer.
	Order string `yaml:"order" oneof:"none stream" default:"none"`
	// For how long a message may be at work before it comes again.
	AckWait time.Duration `yaml:"ack_wait" range:"1s..24h" otherwise:"the consumer's; 30s if it is made"`
	// Most messages at work, with all processes together.
	MaxUnacked int `yaml:"max_unacked" range:"1..1000000" otherwise:"the consumer's; 1000 if it is made"`
	// A consumer that is made begins with messages that are stored after it.
	NewOnly bool `yaml:"new_only" default:"false"`
}

// Check implements config.Settings.
func (n *NATSSource) Check(r config.Report) {
	n.NATSConnection.Check(r)
	need(r, "stream", n.Stream, "name the stream that holds the messages")
	need(r, "consumer", n.Consumer, "name the durable consumer; processes that name the same one share its messages")
}

func (n *NATSSource) openSource(ctx context.Context, _ func(error), dry bool) (source.Source, error) {
	o := natsbroker.SourceOptions{
		Stream: n.Stream, Consumer: n.Consumer, Subjects: n.Subjects, Order: orderOf(n.Order),
		AckWait: n.AckWait, MaxUnacked: n.MaxUnacked, NewOnly: n.NewOnly,
	}
	var err error
	if o.URL, err = n.login(&o.Login); err != nil {
		return nil, err
	}
	if dry {
		return nil, o.Validate()
	}
	return natsbroker.OpenSource(ctx, o)
}
