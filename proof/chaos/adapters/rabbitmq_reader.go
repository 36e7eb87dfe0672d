package adapters

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/proof/chaos"
)

// rabbitReader takes what is in the queue. A queue gives again what was not acknowledged, in its order, and marks it so. What was given
// out and acknowledged, though the node never learnt of that, is known by its place among the ticks, which are unique: that one is
// skipped, and never a second message with the same id.
type rabbitReader struct {
	url    string
	stream bool
	away   atomic.Bool // it shall not read now
	stale  atomic.Bool // the stream is another one

	conn          *amqp.Connection
	ack           func(tag uint64) error // of all up to there
	messages      <-chan amqp.Delivery
	before        time.Time // of the last tick
	first, second []queued  // what waits for its first tick, and for its second
	order         []place   // of what was taken, as it lay in the queue
	base          int       // so many before those are forgotten
	given         int       // so many were given out, the forgotten ones among them
	aligned       bool      // it is known where in the order the node began again
	held          []queued  // what waits for that
	skip          int       // so many come again that were given out
	ticks         [2]int64  // a stream's offsets of the last but one tick, and of the last
}

// place is one of the queue.
type place struct {
	id   string
	tick time.Time // zero: it is a message
}

// queued is what was taken from the queue.
type queued struct {
	chaos.Arrival

	place

	tag    uint64
	end    int   // where the order goes on behind it
	offset int64 // in a stream
	again  bool  // the node has sent it before
}

// More implements chaos.Place.
func (r *rabbitReader) More(ctx context.Context) ([]chaos.Arrival, error) {
	if r.stale.Swap(false) {
		r.begin()
	}
	if r.away.Load() {
		r.hangUp()
		return nil, errBehind
	}
	if r.messages == nil {
		if err := r.consume(); err != nil {
			return nil, err
		}
	}
	out, err := gather(ctx, r.messages, func(m amqp.Delivery) ([]chaos.Arrival, error) { return r.receive(&m) }, r.readTo)
	if errors.Is(err, errHungUp) {
		r.hangUp()
	}
	return out, err
}

// readTo says whether everything was given out that was stored before a time.
func (r *rabbitReader) readTo(at time.Time) bool {
	return r.before.After(at) && len(r.first)+len(r.second)+len(r.held) == 0
}

// Reread implements chaos.Rereadable. A queue has only what nobody acknowledged.
func (r *rabbitReader) Reread() { r.begin() }

// begin has it read from the beginning.
func (r *rabbitReader) begin() {
	r.hangUp()
	r.order, r.base, r.given, r.ticks = nil, 0, 0, [2]int64{}
}

// reread has it take what comes for what was never seen, and was stored after a time.
func (r *rabbitReader) reread(after time.Time) {
	r.begin()
	r.before = after
}

// hangUp ends the connection.
func (r *rabbitReader) hangUp() {
	if r.conn != nil {
		_ = r.conn.Close() // it may be broken
	}
	r.conn, r.messages = nil, nil
}

// consume begins to read. What was not acknowledged comes again from there on.
func (r *rabbitReader) consume() (err error) {
	if r.conn, err = amqp.Dial(r.url); err != nil {
		return err
	}
	channel, err := r.conn.Channel()
	if err == nil {
		err = channel.Qos(mostUnacked, 0, false)
	}
	if err == nil {
		r.ack = func(tag uint64) error { return channel.Ack(tag, true) }
		r.messages, err = channel.Consume(rabbitQueue, "", false, !r.stream, false, false, r.again())
	}
	if err != nil {
		r.hangUp() // it is tried again
	}
	return err
}

// again forgets what was taken and not given out, and returns from where on a stream is read.
func (r *rabbitReader) again() amqp.Table {
	r.first, r.second, r.held, r.skip = nil, nil, nil, 0
	if !r.stream {
		r.aligned = r.given == 0
		return nil
	}
	r.aligned = true
	r.order, r.base, r.given, r.ticks[1] = nil, 0, 0, r.ticks[0]
	if r.ticks[0] == 0 {
		return amqp.Table{"x-stream-offset": "first"}
	}
	return amqp.Table{"x-stream-offset": r.ticks[0]}
}

// receive takes a message from the queue, and returns what has its second tick.
func (r *rabbitReader) receive(m *amqp.Delivery) (ready []chaos.Arrival, err error) {
	q, err := read(m)
	if err != nil {
		return nil, err
	}
	if r.stream && q.offset < r.ticks[0] {
		return nil, r.ack(q.tag) // a stream begins with a whole chunk
	}
	if !r.aligned {
		r.held = append(r.held, q)
		if r.aligned = r.align(); !r.aligned {
			return nil, nil
		}
		held := r.held
		r.held = nil
		for _, q := range held {
			one, err := r.take(q)
			if ready = append(ready, one...); err != nil {
				return ready, err
			}
		}
		return ready, nil
	}
	return r.take(q)
}

func read(m *amqp.Delivery) (q queued, err error) {
	q = queued{place: place{id: m.MessageId}, tag: m.DeliveryTag, again: m.Redelivered}
	q.offset, _ = m.Headers["x-stream-offset"].(int64)
	if m.Type == tickType {
		micros, err := strconv.ParseInt(string(m.Body), 10, 64)
		q.tick = time.UnixMicro(micros)
		return q, err
	}
	q.Headers, q.Payload = map[string]string{"tx": rabbitHeader(m, "tx"), broker.HeaderReplay: rabbitHeader(m, broker.HeaderReplay)}, m.Body
	if q.Key, err = url.PathUnescape(rabbitHeader(m, "Postbag-Key")); err != nil {
		return q, fmt.Errorf("adapters: a key on RabbitMQ: %w", err)
	}
	return q, nil
}

func rabbitHeader(m *amqp.Delivery, name string) string {
	text, _ := m.Headers[name].(string)
	return text
}

// align finds out where in the order the node began again, as soon as a tick or something new was sent.
func (r *rabbitReader) align() bool {
	last := r.held[len(r.held)-1]
	begin := len(r.order) // all that was taken is acknowledged
	switch {
	case last.again && last.tick.IsZero():
		return false
	case last.again:
		if at := slices.Index(r.order, last.place); at >= 0 {
			begin = max(0, at-len(r.held)+1)
		}
	}
	for i := begin - 1; i >= 0; i-- {
		if !r.order[i].tick.IsZero() {
			r.before = r.order[i].tick
			break
		}
	}
	r.order = r.order[:r.given-r.base]
	r.skip = max(0, len(r.order)-begin)
	return true
}

// take puts a message behind those that wait for their ticks.
func (r *rabbitReader) take(q queued) (ready []chaos.Arrival, err error) {
	skipped := r.skip > 0
	if skipped {
		r.skip--
	} else {
		r.order = append(r.order, q.place)
		q.end = r.base + len(r.order)
	}
	if q.tick.IsZero() {
		if !skipped {
			q.From = r.before
			r.first = append(r.first, q)
		}
		return nil, nil
	}
	r.before = q.tick
	r.ticks = [2]int64{r.ticks[1], q.offset}
	all := r.second
	r.first, r.second = nil, r.first
	return r.release(all)
}

// release gives out what has its ticks, and acknowledges it.
func (r *rabbitReader) release(all []queued) (ready []chaos.Arrival, err error) {
	if len(all) == 0 {
		return nil, nil
	}
	for _, q := range all {
		q.To = r.before
		ready = append(ready, q.Arrival)
	}
	last := all[len(all)-1]
	r.given = last.end
	if n := r.given - r.base - 2*mostUnacked; n > mostUnacked { // the node sends no more than that again
		r.order, r.base = slices.Clone(r.order[n:]), r.base+n
	}
	return ready, r.ack(last.tag)
}
