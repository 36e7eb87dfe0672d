package component

import (
	"context"
	"fmt"
	"time"

	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/source"
)

// RabbitMQSource takes messages from a queue or a stream of RabbitMQ.
type RabbitMQSource struct {
	RabbitMQConnection

	// The queue: quorum or classic. Processes that name the same one share its messages. One
	// of queue and stream is required.
	Queue string `yaml:"queue"`
	// A stream, in place of a queue. One process gets its messages in sequence, and others
	// stand by. The store of the box keeps the position.
	Stream string `yaml:"stream"`
	// For a stream: the group, which has one position. Required there.
	Consumer string `yaml:"consumer"`
	// For a stream: a word that tells it from an older one of the same name. Change it if the
	// stream was deleted and made again.
	Life string `yaml:"life" otherwise:"none"`
	// For a stream: where a new group begins. next is what is stored from then on.
	Begin string `yaml:"begin" oneof:"first next" default:"first"`
	// For a stream: where a new group begins, in place of begin: at messages that were stored
	// at this time or later (RFC 3339). Somewhat older ones come too.
	Since string `yaml:"since" otherwise:"as begin says"`
	// For a stream: go on where retention removed messages before they were stored, and log
	// how many offsets are missing. With false the source stops there, and says so.
	SkipDeleted bool `yaml:"skip_deleted" default:"false"`
	// Exchanges, queues and bindings to declare at each connection. Without it the queue or
	// stream must exist.
	Topology RabbitMQTopology `yaml:"topology"`
	// For a queue: none shares single messages out. stream gives all to one process in
	// sequence, and others stand by; it needs the queue in topology, with the argument
	// x-single-active-consumer: true.
	Order string `yaml:"order" oneof:"none stream" default:"none"`
	// Of a queue: most messages that the server sends and that are not acknowledged yet. Of a
	// stream: most messages that are read ahead.
	Prefetch int `yaml:"prefetch" range:"1..65535" default:"1000"`
}

// Check implements config.Settings.
func (q *RabbitMQSource) Check(r config.Report) {
	q.RabbitMQConnection.Check(r)
	if (q.Queue == "") == (q.Stream == "") {
		r.Atf("", "needs one of queue and stream; name what to take messages from")
	}
	if q.Stream != "" {
		need(r, "consumer", q.Consumer, "name the group whose position in the stream is kept")
		q.checkBegin(r)
		return
	}
	for _, one := range []struct {
		setting string
		given   bool
	}{
		{"consumer", q.Consumer != ""},
		{"life", q.Life != ""},
		{"begin", q.Begin == "next"},
		{"since", q.Since != ""},
		{"skip_deleted", q.SkipDeleted},
	} {
		if one.given {
			r.Atf(one.setting, "is for a stream; leave it out, or name a stream in place of the queue")
		}
	}
}

// checkBegin adds the mistakes of where a group begins in a stream.
func (q *RabbitMQSource) checkBegin(r config.Report) {
	if q.Since == "" {
		return
	}
	if at, err := time.Parse(time.RFC3339, q.Since); err != nil {
		r.Atf("since", "is no time; write it as 2026-01-31T12:00:00Z, or leave it out")
	} else if at.Unix() < 0 {
		r.Atf("since", "is before 1970; leave it out to begin with the first message")
	}
	if q.Begin == "next" {
		r.Atf("since", "and begin are both set; leave one of them out")
	}
}

func (q *RabbitMQSource) openSource(ctx context.Context, _ func(error), dry bool) (source.Source, error) {
	o := rabbitbroker.SourceOptions{Queue: q.Queue, Topology: q.Topology.declared(), Order: orderOf(q.Order), Prefetch: q.Prefetch}
	var err error
	if o.URL, err = q.login(&o.Login); err != nil {
		return nil, err
	}
	if dry {
		return nil, o.Validate()
	}
	return rabbitbroker.OpenSource(ctx, o)
}

func (q *RabbitMQSource) keepsPosition() bool { return q.Stream != "" }

func (q *RabbitMQSource) openKept(ctx context.Context, positions source.Positions, onFault func(error), dry bool) (source.Source, error) {
	o := rabbitbroker.StreamOptions{
		Stream: q.Stream, Consumer: q.Consumer, Life: q.Life, Positions: positions, Topology: q.Topology.declared(), Prefetch: q.Prefetch,
	}
	o.From, _ = time.Parse(time.RFC3339, q.Since) // checked when it was read; empty: the zero time
	if q.Begin == "next" {
		o.Begin = rabbitbroker.BeginNext
	}
	if q.SkipDeleted {
		o.Reset = func(x rabbitbroker.Reset) {
			onFault(fmt.Errorf("messages of stream %.249q were removed before they were stored: it goes on at offset %d in place of %d", x.Stream, x.To, x.From))
		}
	}
	var err error
	if o.URL, err = q.login(&o.Login); err != nil {
		return nil, err
	}
	if dry {
		return nil, o.Validate()
	}
	return rabbitbroker.OpenStream(ctx, o)
}
