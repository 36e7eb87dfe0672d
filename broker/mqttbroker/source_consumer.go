package mqttbroker

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"
)

const (
	handshakeTimeout = 10 * time.Second
	farewellTimeout  = 2 * time.Second
	// Attempts to connect are so far apart at least, and at most.
	shortestPause = 250 * time.Millisecond
	longestPause  = time.Second

	puback  = packets.PUBACK
	pubrec  = packets.PUBREC
	pubcomp = packets.PUBCOMP
)

// consumer is one assignment of the session, or several after each other: a connection, from
// the answer to its subscriptions to its end.
type consumer struct {
	s     *Source
	conn  net.Conn
	in    *bufio.Reader
	out   *bufio.Writer // of write, and before it of open
	alive time.Duration
	began time.Time

	wake   chan struct{} // there may be something to write
	room   chan struct{} // there may be room for another message of QoS 0
	done   chan struct{} // closed: write what there is, then say good-bye
	ended  chan struct{} // closed when the source ends the connection
	cut    func()        // does that, once
	gone   chan struct{} // closed when nothing is read any more
	why    error         // then: why the broker ended it, nil if it did not say
	rival  bool          // then: another client took the session
	heard  atomic.Int64
	atRest atomic.Bool // nothing is read for want of room

	// Source.mu guards these.
	work    work
	epoch   uint64
	over    bool  // the assignment is; the connection may be there
	written int   // acks that were
	sure    int   // acks that the broker is known to have
	pings   []int // for each PINGREQ without an answer: acks that were written before
}

// run takes messages over one connection after another until ctx ends.
func (s *Source) run(ctx context.Context) {
	pause := shortestPause
	for ctx.Err() == nil {
		if away := s.access.rivals.away(); away > 0 {
			s.say(s.takenOver())
			sleep(ctx, away)
			continue
		}
		c, err := s.open(ctx)
		if err != nil {
			s.say(err)
			sleep(ctx, pause)
			pause = min(2*pause, longestPause)
			continue
		}
		pause = shortestPause
		s.begin(c)
		s.finish(ctx, c)
		if time.Since(c.began) < time.Second {
			sleep(ctx, shortestPause) // what ends so soon may do so again and again
		}
	}
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// open makes a connection to the session, and subscribes. It always subscribes: a session that
// was there can lack a filter.
func (s *Source) open(ctx context.Context) (*consumer, error) {
	w, f := s.access.connect(ctx)
	if f != nil {
		return nil, s.connectionFailure(f)
	}
	c := &consumer{
		s: s, conn: w.conn, in: w.in, out: bufio.NewWriterSize(w.conn, 16<<10), alive: w.alive, began: time.Now(), work: newWork(),
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1), done: make(chan struct{}), gone: make(chan struct{}), ended: make(chan struct{}),
	}
	c.cut = sync.OnceFunc(func() {
		close(c.ended)
		_ = c.conn.Close() // there is nobody to tell
	})
	s.greeted(w.answer)
	release := context.AfterFunc(ctx, c.cut)
	patience := time.AfterFunc(handshakeTimeout, c.cut)
	err := c.subscribe()
	if !release() || !patience.Stop() {
		err = s.lostConnection()
	}
	if err != nil {
		c.cut()
		return nil, err
	}
	return c, nil
}

// greeted notes what the broker said of the session.
func (s *Source) greeted(answer *packets.Connack) {
	s.mu.Lock()
	had, warned := s.had, s.warned
	kept := answer.Properties.SessionExpiryInterval
	short := kept != nil && time.Duration(*kept)*time.Second < s.options.SessionExpiry.Truncate(time.Second)
	s.had, s.warned = true, short
	s.mu.Unlock()
	if had && !answer.SessionPresent {
		s.report(s.lostSession())
	}
	if short && !warned {
		s.report(s.shortSession(time.Duration(*kept) * time.Second))
	}
}

// subscribe asks for messages, and takes those that come before the answer.
func (c *consumer) subscribe() error {
	o := c.s.options
	p := packets.Subscribe{PacketID: 1, Properties: &packets.Properties{}}
	for _, filter := range o.Filters {
		one := packets.SubOptions{Topic: o.subscribed(filter), QoS: byte(o.QoS), RetainHandling: packets.RetainSendOnSubscribeIfNew}
		if o.NoRetained {
			one.RetainHandling = packets.RetainDoNotSend
		}
		p.Subscriptions = append(p.Subscriptions, one)
	}
	if _, err := p.WriteTo(c.out); err != nil {
		return c.s.lostConnection()
	}
	if c.out.Flush() != nil {
		return c.s.lostConnection()
	}
	for {
		f, err := readFrame(c.in)
		if err == nil && f.kind() == packets.SUBACK {
			return c.granted(f)
		}
		if err == nil {
			err = c.handle(f)
		}
		if err != nil {
			c.note(err)
			if c.why != nil {
				return c.why
			}
			return c.s.lostConnection()
		}
	}
}

// granted reads the answer to the subscriptions.
func (c *consumer) granted(f frame) error {
	answer := packets.Suback{Properties: &packets.Properties{}}
	if answer.Unpack(bytes.NewBuffer(f.body)) != nil || len(answer.Reasons) != len(c.s.options.Filters) {
		return c.s.misconfigured("the broker's answer to the subscriptions makes no sense", "use a broker of MQTT 5")
	}
	for i, code := range answer.Reasons {
		if err := c.s.denied(c.s.options.Filters[i], code); err != nil {
			return err
		}
	}
	return nil
}

// begin makes c the one whose messages Fetch returns.
func (s *Source) begin(c *consumer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epochs++
	c.epoch, s.consumer, s.fault, s.unsure = s.epochs, c, nil, false
	signal(s.wake)
}

// finish works until the consumer is to end, and ends it. If the source is closed, it notes
// whether the acks have arrived.
func (s *Source) finish(ctx context.Context, c *consumer) {
	c.heard.Store(time.Now().UnixNano())
	var working sync.WaitGroup
	working.Go(c.read)
	working.Go(c.write)
	defer working.Wait()
	defer c.cut()
	var err error
	select {
	case <-c.gone:
		err = s.unsureAcks()
	case <-ctx.Done():
		err = c.farewell()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose(c)
	s.consumer = nil
	if isClosed(c.gone) && c.why != nil {
		s.fault = c.why
	}
	if err == nil {
		return
	}
	s.unsure = c.sure < c.written || len(c.work.answer) > 0
	if ctx.Err() != nil && s.unsure {
		s.left = err
	}
}

// farewell waits until the broker has the acks, and leaves. An error says that it may not have
// them.
func (c *consumer) farewell() error {
	s := c.s
	s.mu.Lock()
	leave := s.leave
	s.lose(c)
	s.mu.Unlock()
	defer context.AfterFunc(leave, c.cut)()
	close(c.done)
	<-c.gone // the broker closes the connection when it was told good-bye
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(c.work.answer) == 0 && c.sure == c.written:
		return nil
	case leave.Err() != nil:
		return fmt.Errorf("%w; it is not sure that the broker has the acks", context.Cause(leave))
	}
	return s.unsureAcks()
}

// isClosed says whether a channel is closed that nobody sends into.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// changed has written what there is to write. The caller holds the lock.
func (c *consumer) changed() {
	signal(c.wake)
	signal(c.room)
}
