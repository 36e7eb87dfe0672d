package mqttbroker

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

const (
	// maxID is the highest packet identifier, and the highest Receive Maximum.
	maxID = 1<<16 - 1
	// writeTimeout is how long a broker may leave what is written unread.
	writeTimeout = 10 * time.Second
)

// limits are what a broker told in its CONNACK.
type limits struct {
	packet  uint32 // bytes of a packet
	pending uint16 // messages sent and not answered
	qos     byte
	retain  bool
	alive   time.Duration // keep-alive
}

// ticket says whose message a packet identifier is.
type ticket struct {
	call  *call
	i     int
	topic string
	note  string // from a PUBREC
}

// connection is one to a broker, from its CONNACK to its end. It keeps nothing
// beyond that.
type connection struct {
	limits

	conn    net.Conn
	room    chan struct{} // one for each message sent and not answered
	gone    chan struct{} // closed at its end
	unheard bool          // Options.Unheard or Retain
	careful bool          // one message at a time
	ended   func(x *connection, blamed int)
	// takenOver hears that the broker ended the connection for another client with its id.
	takenOver func(x *connection)
	cut       func(x *connection) // hears that it ended it without a word
	clientID  string
	began     time.Time

	writing sync.Mutex
	out     *bufio.Writer

	mu      sync.Mutex
	pending map[uint16]ticket
	last    uint16
	over    bool
	rival   bool            // another client took it over
	pings   []chan struct{} // closed by the next PINGRESP
	// denied are topics to which a publish was refused. Some brokers answer one such
	// message and then close the connection before they answer the next.
	denied map[string]*broker.Error

	release chan uint16 // identifiers of PUBRELs to send
	heard   atomic.Int64
	workers sync.WaitGroup
}

// start begins to read answers and to keep the connection alive.
func (x *connection) start(in *bufio.Reader) {
	x.heard.Store(time.Now().UnixNano())
	x.workers.Go(func() { x.read(in) })
	x.workers.Go(x.keep)
}

// publish writes p, whose room is taken, to the connection's buffer. It says whether
// the connection goes on.
func (x *connection) publish(p *packets.Publish, t ticket) bool {
	x.writing.Lock()
	defer x.writing.Unlock()
	if !x.enter(p, t) {
		<-x.room
		t.call.Answer(t.i, brokerkit.Result(x.unsent()))
		return false
	}
	return x.write(p)
}

// enter gives p an identifier that is free.
func (x *connection) enter(p *packets.Publish, t ticket) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return false
	}
	for {
		if x.last++; x.last == 0 {
			x.last = 1
		}
		if _, taken := x.pending[x.last]; !taken {
			break
		}
	}
	x.pending[x.last] = t
	p.PacketID = x.last
	return true
}

// write writes a packet to the buffer; the caller has the lock.
func (x *connection) write(p packets.Packet) bool {
	_ = x.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // a connection that is closed fails below
	if _, err := p.WriteTo(x.out); err != nil {
		go x.end(errLost("writing failed"), nil) // it takes the lock that answers need, not this one
		return false
	}
	return true
}

// flush sends what is in the buffer.
func (x *connection) flush() {
	x.writing.Lock()
	defer x.writing.Unlock()
	if x.out.Buffered() == 0 {
		return
	}
	_ = x.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // as above
	if err := x.out.Flush(); err != nil {
		go x.end(errLost("writing failed"), nil)
	}
}

// read takes answers until the connection ends.
func (x *connection) read(in *bufio.Reader) {
	for {
		p, err := packets.ReadPacket(in)
		if err != nil {
			how := why(err)
			if how == closedByBroker && !x.isOver() {
				x.cut(x)
			}
			x.end(errLost(how), nil)
			return
		}
		x.heard.Store(time.Now().UnixNano())
		switch a := p.Content.(type) {
		case *packets.Puback:
			x.answered(a.PacketID, a.ReasonCode)
		case *packets.Pubrec:
			x.received(a.PacketID, a.ReasonCode)
		case *packets.Pubcomp:
			x.completed(a.PacketID, a.ReasonCode)
		case *packets.Pingresp:
			x.ponged()
		case *packets.Disconnect:
			if a.ReasonCode == codeTakenOver {
				x.takenOver(x)
				x.end(errTakenOver(broker.Unknown, x.clientID), nil)
				return
			}
			x.end(errLost(fmt.Sprintf("the broker ended it with reason 0x%02x", a.ReasonCode)), blame(a.ReasonCode))
			return
		default: // nothing else is due, nor does harm
		}
	}
}

const closedByBroker = "it was closed"

func why(err error) string {
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return "the broker was silent"
	}
	return closedByBroker
}

// answered takes in the last answer to a message of QoS 1, or a refusal.
func (x *connection) answered(id uint16, code byte) {
	t, ok := x.leave(id)
	if !ok {
		return
	}
	x.answer(t, x.verdict(code))
}

// answer gives a message the fate that the broker answered.
func (x *connection) answer(t ticket, r broker.Result) {
	f, _ := r.Err.(*broker.Error) //nolint:errorlint // it is made here, and wrapped by nobody
	x.mu.Lock()
	if r.Outcome == broker.Misconfigured {
		x.denied[t.topic] = f
	} else if len(x.denied) > 0 {
		delete(x.denied, t.topic)
	}
	x.mu.Unlock()
	t.call.Answer(t.i, r)
}

// unsent is the fate of a message that the end of the connection kept from being
// sent.
func (x *connection) unsent() *broker.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.rival {
		return errTakenOver(broker.Misconfigured, x.clientID)
	}
	if len(x.denied) > 0 {
		return adapter.Failure(broker.NotSent, "the broker closed the connection after it had refused another message", "send it again")
	}
	return errUnsent()
}

// received takes in the first answer to a message of QoS 2: a refusal, or the
// broker's word that it has it, whose release it then waits for.
func (x *connection) received(id uint16, code byte) {
	if code >= firstCodeOfFailure {
		x.answered(id, code)
		return
	}
	x.noted(id, x.verdict(code))
	select {
	case x.release <- id:
	case <-x.gone:
	}
}

// completed takes in the last answer to a message of QoS 2.
func (x *connection) completed(id uint16, code byte) {
	t, ok := x.leave(id)
	switch {
	case !ok:
	case code == codeIDNotFound:
		t.call.Answer(t.i, brokerkit.Result(errLost("the broker does not know the packet identifier")))
	default:
		x.answer(t, broker.Result{Outcome: broker.Accepted, Note: t.note})
	}
}

// verdict is the fate that a reason code says.
func (x *connection) verdict(code byte) broker.Result {
	switch {
	case code == codeNoSubscribers && x.unheard:
		return broker.Result{Outcome: broker.Accepted, Note: "no subscribers"}
	case code == codeNoSubscribers:
		return brokerkit.Result(adapter.TopicFailure(broker.Misconfigured, "nobody subscribes to the topic, and the broker has dropped the message (reason 0x10)",
			"subscribe with a session that lasts, or set Options.Unheard"))
	case code < firstCodeOfFailure:
		return broker.Result{Outcome: broker.Accepted}
	default:
		return brokerkit.Result(refusal(code))
	}
}

// leave frees a packet identifier and its room.
func (x *connection) leave(id uint16) (ticket, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	t, ok := x.pending[id]
	if ok {
		delete(x.pending, id)
		<-x.room
		if x.careful {
			t.call.d.suspects.Add(-1)
		}
	}
	return t, ok
}

// noted keeps the note of a message that is accepted if all goes well, and settles
// one that is not. Its identifier stays taken until the end.
func (x *connection) noted(id uint16, r broker.Result) {
	x.mu.Lock()
	t, ok := x.pending[id]
	if ok {
		t.note = r.Note
		x.pending[id] = t
	}
	x.mu.Unlock()
	if ok && r.Outcome != broker.Accepted {
		x.answer(t, r)
	}
}

// keep sends what is due between calls: releases, and questions for a sign of life.
// It is not the reader that writes, because one that waited to write would not read.
func (x *connection) keep() {
	tick := time.NewTicker(x.alive / 2)
	defer tick.Stop()
	for {
		select {
		case <-x.gone:
			return
		case id := <-x.release:
			x.releaseAll(id)
		case <-tick.C:
			if time.Since(time.Unix(0, x.heard.Load())) > x.alive*3/2 {
				x.end(errLost("the broker was silent"), nil)
				return
			}
			x.ping()
		}
	}
}

// releaseAll sends the releases that wait, and then what is in the buffer.
func (x *connection) releaseAll(id uint16) {
	x.writing.Lock()
	x.write(&packets.Pubrel{PacketID: id})
	for more := true; more; {
		select {
		case id := <-x.release:
			x.write(&packets.Pubrel{PacketID: id})
		default:
			more = false
		}
	}
	x.writing.Unlock()
	x.flush()
}

// ping asks for a sign of life. The channel is closed when it came.
func (x *connection) ping() <-chan struct{} {
	answer := make(chan struct{})
	x.mu.Lock()
	x.pings = append(x.pings, answer)
	x.mu.Unlock()
	x.writing.Lock()
	x.write(&packets.Pingreq{})
	x.writing.Unlock()
	x.flush()
	return answer
}

func (x *connection) ponged() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, answer := range x.pings {
		close(answer)
	}
	x.pings = nil
}

func (x *connection) isOver() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.over
}

// idle says whether nothing is under way.
func (x *connection) idle() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.pending) == 0
}

// end ends the connection, once. What was sent and not answered is unanswered; if a
// message is blamed and there is but one, it is that.
func (x *connection) end(unanswered, blamed *broker.Error) {
	x.mu.Lock()
	if x.over {
		x.mu.Unlock()
		return
	}
	x.over = true
	open := x.pending
	x.pending = nil
	denied := maps.Clone(x.denied)
	x.mu.Unlock()
	defer close(x.gone) // when all have their fate
	_ = x.conn.Close()  // there is nobody to tell
	suspects := 0
	if blamed != nil {
		suspects = len(open)
	}
	x.ended(x, suspects)
	if suspects == 1 {
		unanswered = blamed
	}
	for _, t := range open {
		if f := denied[t.topic]; f != nil && suspects == 0 { // nobody writes to it any more
			t.call.Answer(t.i, brokerkit.Result(f))
			continue
		}
		t.call.Answer(t.i, brokerkit.Result(unanswered))
	}
}

// part ends the connection politely, when nothing is under way.
func (x *connection) part() {
	x.writing.Lock()
	x.write(&packets.Disconnect{Properties: &packets.Properties{}})
	x.writing.Unlock()
	x.flush()
	x.end(errLost("the destination was closed"), nil)
	x.workers.Wait()
}
