package mqttbroker

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/eclipse/paho.golang/packets"
)

// errEnded says that the broker ended the connection with a DISCONNECT, whose reason was noted.
var errEnded = errors.New("the broker ended the connection")

// read takes what comes until the connection ends.
func (c *consumer) read() {
	defer close(c.gone)
	for {
		f, err := readFrame(c.in)
		if err == nil {
			c.heard.Store(time.Now().UnixNano())
			err = c.handle(f)
		}
		if err != nil {
			c.note(err)
			c.cut()
			return
		}
		c.awaitRoom()
	}
}

// rivalry is how long a connection may last at most that another client with its id takes away.
const rivalry = 30 * time.Second

// note keeps why nothing is read any more. It counts what may be a rival's doing.
func (c *consumer) note(err error) {
	rivals := c.s.access.rivals
	switch {
	case errors.Is(err, errEnded):
	case errors.Is(err, errFrame):
		c.why = c.s.unavailable(doingFetch, "the broker sent something that is no packet of MQTT 5", "look at the broker, or at what stands between")
	case isClosed(c.done), isClosed(c.ended): // it was this source that ended it
	case why(err) == closedByBroker:
		rivals.cut(c.began, time.Since(c.began) < rivalry) // what lasts longer is closed for another reason, such as by a proxy
	}
	if c.rival {
		rivals.tookOver(c.began)
	}
}

// handle takes a packet.
func (c *consumer) handle(f frame) error {
	switch f.kind() {
	case packets.PUBLISH:
		return c.arrive(f)
	case packets.PUBREL:
		id, err := f.packetID()
		if err != nil {
			return err
		}
		c.s.mu.Lock()
		c.work.answer = append(c.work.answer, answer{pubcomp, id})
		c.s.mu.Unlock()
		signal(c.wake)
	case packets.PINGRESP:
		c.ponged()
	case packets.DISCONNECT:
		var code byte
		if len(f.body) > 0 {
			code = f.body[0]
		}
		if c.rival = code == codeTakenOver; c.rival {
			c.why = c.s.takenOver()
		} else {
			c.why = c.s.ended(code)
		}
		return errEnded
	default: // nothing else is due, nor does harm
	}
	return nil
}

// arrive keeps a message for Fetch.
func (c *consumer) arrive(f frame) error {
	id, err := f.publishID()
	if err != nil {
		return err
	}
	a := &arrival{frame: f, id: id, qos: f.qos()}
	if f.duplicate() {
		a.before = 1
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.work.arrive(a)
	signal(c.s.wake)
	return nil
}

// awaitRoom waits while too many messages of QoS 0 are not acked: no Receive Maximum bounds
// those.
func (c *consumer) awaitRoom() {
	full := func() bool {
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		return c.work.plain >= c.s.options.MaxUnacked && !c.over
	}
	for full() {
		c.atRest.Store(true)
		select {
		case <-c.room:
		case <-c.done:
			return
		case <-c.ended:
			return
		}
	}
	c.heard.Store(time.Now().UnixNano())
	c.atRest.Store(false)
}

// ponged notes that the broker has all acks that were written before the question: it takes
// packets in sequence.
func (c *consumer) ponged() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if len(c.pings) == 0 {
		return
	}
	c.sure, c.pings = c.pings[0], c.pings[1:]
	signal(c.wake)
}

// write tells the broker what became of messages, and asks for a sign of life, until the source is
// closed or the connection ends.
func (c *consumer) write() {
	tick := time.NewTicker(max(c.alive/2, time.Millisecond))
	defer tick.Stop()
	done, leaving, ask := c.done, false, false
	for {
		if !c.send(ask) {
			c.cut()
			return
		}
		if leaving && c.parted() {
			return
		}
		ask = false
		select {
		case <-c.wake:
		case <-tick.C:
			if c.silent() {
				c.cut()
				return
			}
			ask = true
		case <-done:
			leaving, done = true, nil
		case <-c.gone:
			return
		}
	}
}

// silent says whether nothing was heard of the broker for too long.
func (c *consumer) silent() bool {
	return !c.atRest.Load() && time.Since(time.Unix(0, c.heard.Load())) > c.alive*3/2
}

// send writes what there is to write. A question follows acks, if there is no other under way:
// nothing else shows that the broker has them. ask wants one in any case.
func (c *consumer) send(ask bool) bool {
	c.s.mu.Lock()
	answers := c.work.take()
	for _, a := range answers {
		if a.kind != pubcomp {
			c.written++
		}
	}
	if ask = ask || c.written > c.sure && len(c.pings) == 0; ask {
		c.pings = append(c.pings, c.written)
	}
	c.s.mu.Unlock()
	if len(answers) == 0 && !ask {
		return true
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // a connection that is closed fails below
	for _, a := range answers {
		packet := [4]byte{a.kind << 4, 2}
		binary.BigEndian.PutUint16(packet[2:], a.id)
		_, _ = c.out.Write(packet[:]) // Flush says what failed
	}
	if ask {
		_, _ = (&packets.Pingreq{}).WriteTo(c.out)
	}
	return c.out.Flush() == nil
}

// parted leaves, if the broker has all acks. The broker then closes the connection; if it does
// not, the source does.
func (c *consumer) parted() bool {
	c.s.mu.Lock()
	waits := len(c.work.answer) > 0 || c.sure < c.written
	c.s.mu.Unlock()
	if waits {
		return false
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // as above
	if _, err := (&packets.Disconnect{Properties: &packets.Properties{}}).WriteTo(c.conn); err != nil {
		c.cut()
		return true
	}
	timer := time.NewTimer(farewellTimeout)
	defer timer.Stop()
	select {
	case <-c.gone:
	case <-timer.C:
		c.cut()
	}
	return true
}
