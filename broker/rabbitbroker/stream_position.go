package rabbitbroker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// position is what is kept of a group.
type position struct {
	// Begun is when the group was first opened, if it began with what came next: seconds
	// since 1970.
	Begun int64 `json:"begun,omitempty"`
	// Next is the offset behind the acked prefix. Nil: no message was delivered yet.
	Next *uint64 `json:"next,omitempty"`
	// Seen and Sum are a message of the stream, as a mark that it still is the same one: the
	// last of the acked prefix, or the first that came.
	Seen uint64 `json:"seen,omitempty"`
	Sum  []byte `json:"sum,omitempty"`
	// Waits says that the message at Next was delivered.
	Waits bool `json:"waits,omitempty"`
}

// errRecord says that a record is not one of these.
var errRecord = errors.New("it is no position of a stream, or of a newer version of this program")

func readPosition(record []byte) (p position, err error) {
	if record == nil {
		return p, nil
	}
	in := json.NewDecoder(bytes.NewReader(record))
	in.DisallowUnknownFields()
	if in.Decode(&p) != nil || p.Next == nil && p.Begun <= 0 || p.Next != nil && len(p.Sum) != sumSize {
		return position{}, errRecord
	}
	return p, nil
}

// next is where the group goes on, zero if it has not begun.
func (p position) next() uint64 {
	if p.Next == nil {
		return 0
	}
	return *p.Next
}

const sumSize = 16

// sumOf is the fingerprint of a message: of what a sender gives it, and never changes.
func sumOf(d *amqp.Delivery) []byte {
	sum := sha256.New()
	for _, text := range []string{d.Exchange, d.RoutingKey, d.MessageId, d.Type, d.ContentType, string(d.Body)} {
		_ = binary.Write(sum, binary.BigEndian, uint64(len(text))) // a hash takes everything
		sum.Write([]byte(text))
	}
	_ = binary.Write(sum, binary.BigEndian, d.Timestamp.Unix())
	return sum.Sum(nil)[:sumSize]
}

const (
	// keepEvery is how long acks are gathered before the position is kept.
	keepEvery = 100 * time.Millisecond
	// keepTimeout is how long the store of the position may take.
	keepTimeout = 5 * time.Second
)

// deliver notes that a message was handed out. The caller holds the lock.
func (t *tenure) deliver(a arrival) {
	if t.at.Next == nil { // from now on the group has begun
		t.at = position{Next: &a.offset, Seen: a.offset, Sum: a.sum, Waits: true}
		t.dirty = true
		signal(t.s.moved)
	}
	t.sums = append(t.sums, seen{a.offset, a.sum})
}

// seen is a message that was delivered.
type seen struct {
	offset uint64
	sum    []byte
}

// note takes over how far is acked. The caller holds the lock.
func (t *tenure) note() {
	for _, to := range t.s.tracker.Take() {
		next := to.Next
		t.at.Next, t.dirty = &next, true
		for len(t.sums) > 0 && t.sums[0].offset < next {
			t.at.Seen, t.at.Sum = t.sums[0].offset, t.sums[0].sum
			t.sums = t.sums[1:]
		}
		t.at.Waits = len(t.sums) > 0
	}
}

// keep keeps the position as it grows, until ctx ends.
func (t *tenure) keep(ctx context.Context) {
	defer close(t.kept)
	for {
		select {
		case <-t.s.moved:
		case <-ctx.Done():
			return
		}
		sleep(ctx, keepEvery)
		if ctx.Err() != nil {
			return
		}
		if err := t.save(ctx); err != nil {
			sleep(ctx, 5*keepEvery) // again, and not so soon
			signal(t.s.moved)
		}
	}
}

// save keeps the position if it has grown.
func (t *tenure) save(ctx context.Context) error {
	t.s.mu.Lock()
	t.note()
	dirty, at := t.dirty, t.at
	t.dirty = false
	t.s.mu.Unlock()
	if !dirty {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	record, err := json.Marshal(at)
	ours := false
	if err == nil {
		ours, err = t.s.options.Positions.KeepPosition(within, t.s.lane, t.epoch, record)
	}
	if err == nil && ours {
		return nil
	}
	t.s.mu.Lock()
	t.dirty = true
	t.s.mu.Unlock()
	if err != nil {
		return t.s.unavailable(doingKeep, fmt.Sprintf("its store does not take it (%v)", err), "look at that database")
	}
	select {
	case t.fenced <- struct{}{}:
	default:
	}
	return t.s.fencedOff()
}

// open opens the position.
func (t *tenure) open(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	s := t.s
	epoch, record, err := s.options.Positions.OpenPosition(within, s.lane)
	if err != nil {
		return s.unavailable(doingKeep, fmt.Sprintf("its store does not give it (%v)", err), "look at that database")
	}
	t.epoch = epoch
	if t.at, err = readPosition(record); err != nil {
		return s.misconfigured(doingKeep, err.Error(), "update this program, or name another group in StreamOptions.Consumer")
	}
	if s.options.Begin != BeginNext || t.at.Next != nil || t.at.Begun > 0 {
		return nil
	}
	t.fresh, t.at.Begun, t.dirty = true, time.Now().Unix(), true
	return t.save(ctx)
}

// offset is what the server is asked for: the message that shows that it is the same stream, or
// where the group begins.
func (t *tenure) offset() any {
	switch {
	case t.at.Next != nil:
		return int64(min(t.at.Seen, *t.at.Next))
	case t.fresh:
		return "next"
	case t.at.Begun > 0:
		return time.Unix(t.at.Begun, 0)
	case !t.s.options.From.IsZero():
		return t.s.options.From
	}
	return "first"
}
