package format

import (
	"context"
	"errors"
	"fmt"

	"github.com/postbag/postbag/broker"
)

// whole returns d with the abilities that the destination behind has, and no other.
func (d *destination) whole() broker.Destination {
	to, streams := d.Destination.(broker.Streamer)
	prober, probes := d.Destination.(broker.Prober)
	opener, transacts := d.Destination.(broker.Transactional)
	s, l := streamer{d, to}, lanes{d, opener}
	switch {
	case streams && probes && transacts:
		return struct {
			*destination
			streamer
			broker.Prober
			lanes
		}{d, s, prober, l}
	case streams && probes:
		return struct {
			*destination
			streamer
			broker.Prober
		}{d, s, prober}
	case streams && transacts:
		return struct {
			*destination
			streamer
			lanes
		}{d, s, l}
	case probes && transacts:
		return struct {
			*destination
			broker.Prober
			lanes
		}{d, prober, l}
	case streams:
		return struct {
			*destination
			streamer
		}{d, s}
	case probes:
		return struct {
			*destination
			broker.Prober
		}{d, prober}
	case transacts:
		return struct {
			*destination
			lanes
		}{d, l}
	}
	return d
}

// String names the destination behind.
func (d *destination) String() string {
	if s, ok := d.Destination.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", d.Destination)
}

// streamer is the ability of a broker.Streamer.
type streamer struct {
	encoding *destination
	to       broker.Streamer
}

// Stream implements broker.Streamer.
func (s streamer) Stream(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	encoded, places := s.encoding.encode(msgs, report)
	switch {
	case len(encoded) == 0 && len(msgs) > 0:
	case places == nil:
		s.to.Stream(ctx, encoded, report)
	default:
		s.to.Stream(ctx, encoded, func(i int, r broker.Result) { report(places[i], r) })
	}
}

// lanes is the ability of broker.Transactional.
type lanes struct {
	encoding *destination
	to       broker.Transactional
}

// OpenLane implements broker.Transactional.
func (l lanes) OpenLane(ctx context.Context, name broker.LaneName) (broker.Lane, error) {
	inner, err := l.to.OpenLane(ctx, name)
	if err != nil {
		return nil, err
	}
	return &lane{Lane: inner, encoding: l.encoding}, nil
}

// lane encodes what is committed.
type lane struct {
	broker.Lane

	encoding *destination
	finished bool
}

// Commit implements broker.Lane. A message that cannot be encoded aborts the
// transaction before anything of it is sent.
func (l *lane) Commit(ctx context.Context, msgs []broker.Delivery, record []byte, results []broker.Result) (broker.TxOutcome, error) {
	if l.finished {
		fill(results, broker.Result{Outcome: broker.NotSent, Err: broker.ErrLane})
		return broker.Aborted, broker.ErrLane
	}
	encoded := make([]broker.Delivery, len(msgs))
	copy(encoded, msgs)
	rest := broker.Accepted // what becomes of those that are not at fault
	for i := range encoded {
		switch results[i] = l.encoding.attempt(&encoded[i]); results[i].Outcome {
		case broker.Unknown: // it is encoded
		case broker.Unavailable:
			if rest == broker.Accepted {
				rest = broker.Unavailable
			}
		default:
			rest = broker.NotSent
		}
	}
	if rest == broker.Accepted {
		return l.Lane.Commit(ctx, encoded, record, results)
	}
	for i := range results {
		if o := results[i].Outcome; o == broker.Unknown || o == broker.Unavailable {
			results[i] = broker.Result{Outcome: rest, Err: errTogether}
		}
	}
	l.finished = true
	return broker.Aborted, errors.Join(errTogether, l.Close(ctx))
}

func fill(results []broker.Result, r broker.Result) {
	for i := range results {
		results[i] = r
	}
}

var errTogether = errors.New("format: a message of the transaction cannot be encoded; commit it without that")
