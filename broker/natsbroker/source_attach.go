package natsbroker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/source"
)

// clockSkew is by how much the clocks of a cluster's servers may differ.
const clockSkew = 30 * time.Second

// ask asks the JetStream API something, and gives an error its class.
func (s *Source) ask(ctx context.Context, doing string, run func(ctx context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	mine := func(subject string) bool { return isAPI(subject) || strings.Contains(subject, ".CONSUMER.") }
	err := request(within, s.nc, mine, run)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.translate(doing, err)
}

// attach looks stream and consumer up, and makes the consumer if it may.
func (s *Source) attach(ctx context.Context) error {
	const doing = "open"
	var stream jetstream.Stream
	if err := s.ask(ctx, doing, func(ctx context.Context) (err error) {
		stream, err = s.js.Stream(ctx, s.options.Stream)
		return err
	}); err != nil {
		return err
	}
	created := stream.CachedInfo().Created
	info, err := s.consumer(ctx, stream, !created.Equal(s.created))
	if err != nil {
		return err
	}
	if faults := s.options.settings(info.Config); len(faults) > 0 {
		return s.misconfigured(doing, "the consumer cannot be used", strings.Join(faults, "; "))
	}
	if !s.created.IsZero() && (!created.Equal(s.created) || !info.Created.Equal(s.consumerCreated)) {
		s.mu.Lock()
		s.lose()
		s.assignment.pin = ""
		s.mu.Unlock()
	}
	s.created, s.consumerCreated, s.limits = created, info.Created, info.Config
	s.attached, s.proved, s.mirror = true, stream.CachedInfo().TimeStamp, stream.CachedInfo().Config.Mirror != nil
	return nil
}

// consumer returns what the consumer is. If it does not exist, it is made, if it may be. It may in a
// stream that is new to this source. Elsewhere it was deleted, and with it what was acked.
func (s *Source) consumer(ctx context.Context, stream jetstream.Stream, may bool) (info *jetstream.ConsumerInfo, err error) {
	const doing = "open"
	look := func(ctx context.Context) error {
		c, err := stream.Consumer(ctx, s.options.Consumer)
		if err == nil {
			info = c.CachedInfo()
		}
		return err
	}
	absent := false
	err = s.ask(ctx, doing, func(ctx context.Context) error {
		err := look(ctx)
		absent = errors.Is(err, jetstream.ErrConsumerNotFound)
		if errors.Is(err, jetstream.ErrNotPullConsumer) {
			return s.misconfigured(doing, "it is a push consumer (deliver_subject)", "use a pull consumer, or name another in SourceOptions.Consumer")
		}
		return err
	})
	switch {
	case !absent:
		return info, err
	case !may:
		return nil, s.misconfigured(doing, "the consumer was deleted, and with it the record of what was acked",
			"close the source and open it, which makes the consumer again")
	}
	if err := s.makeable(stream); err != nil {
		return nil, err
	}
	config := s.options.config()
	if !s.created.IsZero() { // of a stream that was made again while the source was open, everything is new
		config.DeliverPolicy = jetstream.DeliverAllPolicy
	}
	err = s.ask(ctx, doing, func(ctx context.Context) error {
		c, err := stream.CreateConsumer(ctx, config)
		switch {
		case err == nil:
			info = c.CachedInfo()
		case errors.Is(err, jetstream.ErrConsumerExists): // another member was faster
			return look(ctx)
		}
		return err
	})
	return info, err
}

// makeable says why a consumer that the server would make now could not be used.
func (s *Source) makeable(stream jetstream.Stream) error {
	const doing = "make the consumer of"
	if most := stream.CachedInfo().Config.ConsumerLimits.InactiveThreshold; most > 0 {
		return s.misconfigured(doing, fmt.Sprintf("the stream's consumer_limits set inactive_threshold to %v, after which the server forgets what was acked", most),
			"remove it")
	}
	if version := s.nc.ConnectedServerVersion(); s.ordered() && !knowsReset(version) {
		return s.misconfigured(doing, fmt.Sprintf("source.OrderStream needs NATS 2.14 or newer, the server is %.32q", version),
			"update it, or use source.OrderNone")
	}
	return nil
}

// knowsReset says whether a server of this version can set a consumer back.
func knowsReset(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return true // a build without a number; it says so itself if it cannot
	}
	return major > 2 || major == 2 && minor >= 14
}

// prove makes sure that messages which have come, and were stored up to a time, are of the
// stream that was looked up, and not of one of the same name that was made since. If the
// stream was looked up long after that time, they are. (A mirror keeps the times of another
// stream.) Else prove looks it up again. If it is another one, the messages are
// given back, and come again with their own places.
func (s *Source) prove(ctx context.Context, stored time.Time) error {
	if stored.Before(s.proved.Add(-clockSkew)) && !s.mirror {
		return nil
	}
	var info *jetstream.StreamInfo
	err := s.ask(ctx, "fetch from", func(ctx context.Context) error {
		stream, err := s.js.Stream(ctx, s.options.Stream)
		if err == nil {
			info = stream.CachedInfo()
		}
		return err
	})
	if err != nil {
		return err
	}
	if !info.Created.Equal(s.created) {
		s.attached = false
		for _, a := range s.pulls.rest() {
			if !a.meta.Timestamp.Before(info.Created) {
				_ = s.nc.Publish(a.msg.Reply, ackBack) // or it comes again after the ack wait
			}
		}
		s.mu.Lock()
		s.lose()
		s.mu.Unlock()
		return nil
	}
	s.proved = info.TimeStamp
	return nil
}

// place is where the stream keeps a message. The time at which the stream was made
// distinguishes it from one of the same name that was deleted before.
func (s *Source) place(seq uint64) source.Place {
	return source.Place{Source: s.options.Stream + " " + s.created.UTC().Format(time.RFC3339Nano), Offset: seq}
}
