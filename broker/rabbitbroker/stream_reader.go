package rabbitbroker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// tenure is the time in which this source has the stream: a connection with the lock.
type tenure struct {
	s      *StreamSource
	line   *line
	locked <-chan amqp.Delivery // nothing comes; closed when the lock is lost
	epoch  int64                // of the position
	fresh  bool                 // the group was opened for the first time, and begins with what comes next
	fenced chan struct{}        // somebody opened the position later
	kept   chan struct{}        // closed when nobody keeps the position any more

	// StreamSource.mu guards these.
	at    position
	dirty bool   // at is not kept
	sums  []seen // delivered, and not in the acked prefix
}

// reader is a consumer of the stream: a channel.
type reader struct {
	s         *StreamSource
	t         *tenure
	ch        *amqp.Channel
	incoming  <-chan amqp.Delivery // closed with the channel, and with the connection
	cancelled chan string          // the server gives no more: the stream was deleted
	wake      chan struct{}        // there may be credit to give
	endAt     chan time.Time       // when to end because of a release
	from      position             // where it began
	next      uint64               // the first offset that may come
	proved    bool                 // the stream is the one that the position is of
	came      bool                 // the message before next came
	paid      uint64               // the last delivery tag that was acked

	// StreamSource.mu guards these.
	over   bool   // its messages are not wanted any more
	credit uint64 // the last delivery tag that was handed out or left out
}

const (
	// lockPause is how often a member that stands by looks whether the stream is free.
	lockPause = 500 * time.Millisecond
	// lockedPause is the same where each look is an error in the log of the server.
	lockedPause = 5 * time.Second
	// proofPatience is how long the message may take that shows where the stream is.
	proofPatience = 5 * time.Second
	// streamOffset is the argument that says where to begin, and the header that says where a
	// message is.
	streamOffset = "x-stream-offset"
)

var errLineLost = errors.New("the connection was lost")

// run takes messages in one tenure after another until ctx ends.
func (s *StreamSource) run(ctx context.Context) {
	pause := shortestPause
	for ctx.Err() == nil {
		began := time.Now()
		t, err := s.hold(ctx)
		if err == nil {
			err = s.use(ctx, t)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.say(err)
		} else if time.Since(began) > time.Second {
			pause = shortestPause
			continue
		}
		sleep(ctx, pause)
		pause = min(2*pause, longestPause)
	}
}

// hold makes a connection, and returns when this source has the stream.
func (s *StreamSource) hold(ctx context.Context) (*tenure, error) {
	line, f := s.access.connect(ctx)
	if f != nil {
		return nil, s.connectionFailure(f)
	}
	defer context.AfterFunc(ctx, line.cut)()
	t := &tenure{s: s, line: line, fenced: make(chan struct{}, 1), kept: make(chan struct{})}
	err := t.lock(ctx)
	if err == nil {
		err = t.open(ctx)
	}
	if err != nil {
		line.close()
		return nil, s.streamFailure(err)
	}
	return t, nil
}

// lock returns when this source has the lock: the only consumer of a queue that ends with it.
func (t *tenure) lock(ctx context.Context) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		taken, again, err := t.tryLock()
		if taken || err != nil {
			return err
		}
		t.s.say(nil) // it stands by
		pause.Reset(again)
		for waits := true; waits; {
			select {
			case <-pause.C:
				waits = false
			case _, open := <-t.line.blocked: // it is about those who publish
				if !open {
					t.line.blocked = nil
				}
			case why := <-t.line.ended:
				if why != nil {
					return why
				}
				return errLineLost
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// tryLock takes the lock, or says when to try again.
func (t *tenure) tryLock() (taken bool, again time.Duration, err error) {
	patience := time.AfterFunc(handshakeTimeout, t.line.cut)
	defer patience.Stop()
	ch, err := t.line.conn.Channel()
	if err != nil {
		return false, 0, err
	}
	q, err := ch.QueueDeclare(t.s.lock, false, true, ownsLocks(t.line.conn.Properties), false, amqp.Table{queueType: "classic"})
	if why, ok := errors.AsType[*amqp.Error](err); ok && why.Server && why.Code == amqp.ResourceLocked {
		return false, lockedPause, nil
	}
	if err != nil {
		return false, 0, err
	}
	if q.Consumers > 0 {
		return false, lockPause, ch.Close()
	}
	t.locked, err = ch.Consume(t.s.lock, t.s.options.Login.Name, true, true, false, false, nil)
	if why, ok := errors.AsType[*amqp.Error](err); ok && why.Server && isExclusive(why) {
		return false, lockPause, nil // another one was faster
	}
	return err == nil, 0, err
}

// ownsLocks says whether the queue of a lock is its connection's own (exclusive). RabbitMQ before
// 3.13 does with a queue that anybody can ask about, which its log does not mention. RabbitMQ 3.13
// warns of such a transient queue, and refuses it where an operator has denied them; 4.3 refuses
// it by itself.
func ownsLocks(server amqp.Table) bool {
	version, _ := server["version"].(string)
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return true
	}
	major, err := strconv.Atoi(parts[0])
	minor, also := strconv.Atoi(parts[1])
	return err != nil || also != nil || major > 3 || major == 3 && minor >= 13
}

// use reads the stream until the tenure is over, and ends it. It returns why nothing comes, nil
// if the connection just ended.
func (s *StreamSource) use(ctx context.Context, t *tenure) error {
	keeping, end := context.WithCancel(context.Background())
	defer end()
	go t.keep(keeping)
	s.mu.Lock()
	s.tenure, s.epoch = t, s.tracker.Assign(s.partition(), t.at.next())
	s.mu.Unlock()
	var err error
	for how := endReleased; how == endReleased && err == nil; {
		var r *reader
		if r, err = s.consume(ctx, t); err == nil {
			how, err = r.read(ctx)
			if how == endReleased {
				_ = r.ch.Close() // if that fails, so does the next consumer
			}
		}
	}
	if errors.Is(err, errLineLost) {
		err = nil
	}
	s.letGo(ctx, t, end)
	return err
}

// consume asks for messages.
func (s *StreamSource) consume(ctx context.Context, t *tenure) (*reader, error) {
	defer context.AfterFunc(ctx, t.line.cut)()
	patience := time.AfterFunc(handshakeTimeout, t.line.cut)
	defer patience.Stop()
	ch, err := t.line.conn.Channel()
	if err != nil {
		return nil, s.streamFailure(err)
	}
	s.mu.Lock()
	from, offset := t.at, t.offset()
	s.mu.Unlock()
	r := &reader{
		s: s, t: t, ch: ch, from: from, next: from.next(), proved: from.Next == nil,
		cancelled: ch.NotifyCancel(make(chan string, 1)), wake: make(chan struct{}, 1), endAt: make(chan time.Time, 1),
	}
	if err := ch.Qos(s.options.Prefetch, 0, false); err != nil {
		return nil, s.streamFailure(err)
	}
	r.incoming, err = ch.Consume(s.options.Stream, s.options.Login.Name, false, false, false, false, amqp.Table{streamOffset: offset})
	if err != nil {
		return nil, s.streamFailure(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reader = r
	if r.proved {
		s.fault = nil
	}
	return r, nil
}

// read takes what comes until the reader is to end. An error says why nothing comes.
func (r *reader) read(ctx context.Context) (consumerEnd, error) {
	timer, doubt := time.NewTimer(0), time.NewTimer(proofPatience)
	defer timer.Stop()
	defer doubt.Stop()
	var released <-chan time.Time
	for {
		select {
		case d, open := <-r.incoming:
			if !open {
				return endLost, nil
			}
			if err := r.arrive(&d); err != nil {
				return endLost, err
			}
		case <-r.wake:
			if r.pay() != nil {
				return endLost, nil
			}
		case _, open := <-r.t.line.blocked: // it is about those who publish
			if !open {
				r.t.line.blocked = nil
			}
		case at := <-r.endAt:
			timer.Reset(time.Until(at))
			released = timer.C
		case <-released:
			return endReleased, nil
		case <-doubt.C:
			if !r.proved {
				return endLost, r.s.unproved(r.from)
			}
		case _, open := <-r.t.locked:
			if !open {
				return endLost, nil
			}
		case <-r.t.fenced:
			return endLost, r.s.fencedOff()
		case <-r.cancelled:
			return endLost, nil
		case <-ctx.Done():
			return endClosed, nil
		}
	}
}

// pay has the server send more: an ack of a stream is a credit, and nothing else.
func (r *reader) pay() error {
	r.s.mu.Lock()
	credit := r.credit
	r.s.mu.Unlock()
	if credit == r.paid {
		return nil
	}
	r.paid = credit
	return r.ch.Ack(credit, true)
}

// arrive keeps a message for Fetch.
func (r *reader) arrive(d *amqp.Delivery) error {
	s := r.s
	number, ok := d.Headers[streamOffset].(int64)
	if !ok || number < 0 {
		return s.misconfigured(doingFetch, "a message came without an offset, as from a queue", "name a stream in StreamOptions.Stream, or use OpenSource")
	}
	delete(d.Headers, streamOffset)
	offset, sum := uint64(number), sumOf(d)
	if !r.proved {
		if err := r.prove(offset, sum); err != nil {
			return err
		}
	}
	if r.came && offset > r.next+1 {
		if err := r.check(offset); err != nil {
			return err
		}
	}
	m := decoded(d, s.options.Stream)
	m.Place = s.place(offset)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.over:
	case offset < r.next || !r.proved: // it is acked, and came with the message that was asked for
		r.credit = d.DeliveryTag
		signal(r.wake)
	default:
		r.next, r.came = offset+1, true
		s.queue = append(s.queue, arrival{message: m, offset: offset, tag: d.DeliveryTag, sum: sum})
		signal(s.wake)
	}
	return nil
}

// prove looks whether the stream is the one that the position is of, and still has what is not
// acked.
func (r *reader) prove(offset uint64, sum []byte) error {
	s, next := r.s, r.from.next()
	switch {
	case offset < r.from.Seen && offset < next:
		return nil // of the same chunk
	case offset == r.from.Seen && !bytes.Equal(sum, r.from.Sum), offset > r.from.Seen && offset < next:
		return s.otherStream(r.from)
	case offset == r.from.Seen:
		r.came = true
	case offset > next+1, offset > next && r.from.Waits:
		if err := s.gap(next, offset); err != nil {
			return err
		}
		s.mu.Lock()
		r.t.at, r.t.dirty = position{Next: &offset, Seen: offset, Sum: sum, Waits: true}, true
		s.mu.Unlock()
		signal(s.moved)
	}
	r.proved = true
	s.say(nil)
	return nil
}

// check looks whether messages were removed between the last one that came and this one. At the
// begin of a segment the server has an entry of its own, and it has others of consumers that
// keep their offsets with it. So numbers that are left out prove nothing. But retention removes
// the earliest first: if the last message is still there, nothing behind it is gone.
func (r *reader) check(offset uint64) error {
	there, err := r.has(r.next - 1)
	if err != nil || there {
		return err
	}
	return r.s.gap(r.next, offset)
}

// has says whether the stream has a message at an offset, or before it.
func (r *reader) has(offset uint64) (bool, error) {
	patience := time.AfterFunc(handshakeTimeout, r.t.line.cut)
	defer patience.Stop()
	ch, err := r.t.line.conn.Channel()
	if err != nil {
		return false, r.s.streamFailure(err)
	}
	defer func() { _ = ch.Close() }() // or it ends with the connection
	if err := ch.Qos(1, 0, false); err != nil {
		return false, r.s.streamFailure(err)
	}
	incoming, err := ch.Consume(r.s.options.Stream, r.s.options.Login.Name, false, false, false, false, amqp.Table{streamOffset: int64(offset)})
	if err != nil {
		return false, r.s.streamFailure(err)
	}
	d, open := <-incoming // there is one: that behind it came
	if !open {
		return false, errLineLost
	}
	first, ok := d.Headers[streamOffset].(int64)
	return ok && uint64(first) <= offset, nil
}

// letGo ends a tenure. What is acked is kept, also if the connection is lost. If the source is
// closed, it notes whether that is sure.
func (s *StreamSource) letGo(ctx context.Context, t *tenure, end context.CancelFunc) {
	s.mu.Lock()
	t.note()
	s.lose()
	s.tenure = nil
	leave := s.leave
	s.mu.Unlock()
	if ctx.Err() == nil {
		within, cancel := context.WithTimeout(context.Background(), farewellTimeout)
		defer cancel()
		leave = within
	}
	end()
	<-t.kept
	err := t.save(leave)
	defer context.AfterFunc(leave, t.line.cut)()
	t.line.close()
	switch {
	case ctx.Err() == nil:
	case leave.Err() != nil && err != nil:
		s.left = fmt.Errorf("%w; what was acked and is not kept comes again", context.Cause(leave))
	case err != nil:
		s.left = err
	}
}
