package natsbroker

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// pullRequest is how messages are asked for: "Pull consumers" in the NATS documentation.
type pullRequest struct {
	Batch     int           `json:"batch"`
	MaxBytes  int           `json:"max_bytes,omitempty"`
	Expires   time.Duration `json:"expires,omitempty"`
	NoWait    bool          `json:"no_wait,omitempty"`
	Heartbeat time.Duration `json:"idle_heartbeat,omitempty"`
	Group     string        `json:"group,omitempty"`
	ID        string        `json:"id,omitempty"`
}

const (
	// pullExpires is for how long a request waits at the server.
	pullExpires = 30 * time.Second
	// pullHeartbeat is how often the server says that a request still waits.
	pullHeartbeat = 5 * time.Second
	// pullMute is after how much silence a request is taken for lost.
	pullMute = 2*pullHeartbeat + 2*time.Second
)

// pullEnd is why a request ended.
type pullEnd int

const (
	pullDone    pullEnd = iota // it got what it asked for, or its time is over
	pullBusy                   // others wait for more than there is: ask without no_wait
	pullLarge                  // the next message is larger than max_bytes
	pullNobody                 // nobody listens: consumer or stream are gone, or away
	pullDeleted                // the consumer was deleted
	pullMoved                  // the consumer has another leader, or its server stops
	pullPin                    // another member is pinned
	pullRefused                // the request is against the consumer's limits
)

// arrived is a message that no Fetch has returned yet.
type arrived struct {
	msg  *nats.Msg
	meta *nats.MsgMetadata
	at   time.Time
}

// pulls asks for messages, one request at a time, and keeps what comes. It is safe for
// concurrent use; one goroutine asks.
type pulls struct {
	nc   *nats.Conn
	wake chan struct{} // something happened

	mu     sync.Mutex
	sub    *nats.Subscription
	prefix string
	number uint64 // of the request under way, or the last
	open   bool   // a request is under way
	left   int    // what it may still get
	got    int
	heard  time.Time
	end    pullEnd // of the last request
	reason string  // the server's words for it
	queue  []arrived
}

func newPulls(nc *nats.Conn) *pulls { return &pulls{nc: nc, wake: make(chan struct{}, 1)} }

// signal wakes the Fetch that waits.
func (p *pulls) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// renew drops what has come, and begins with a subscription of its own, so that nothing
// that was asked for before comes any more.
func (p *pulls) renew() error {
	p.drop()
	prefix := p.nc.NewInbox() + "."
	sub, err := p.nc.Subscribe(prefix+"*", func(m *nats.Msg) { p.take(prefix, m) })
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.sub, p.prefix = sub, prefix
	p.mu.Unlock()
	return sub.SetPendingLimits(-1, -1) // what was asked for bounds them
}

// drop ends the subscription and forgets what has come. The server then gives what was
// under way to others.
func (p *pulls) drop() {
	p.mu.Lock()
	sub := p.sub
	p.sub, p.prefix, p.queue, p.open, p.got = nil, "", nil, false, 0
	p.mu.Unlock()
	if sub != nil {
		_ = sub.Unsubscribe() // fails on a connection that is closed, which has no subscriptions
	}
}

// drain ends the subscription, and returns what came until the server knew of that.
func (p *pulls) drain(ctx context.Context) []arrived {
	p.mu.Lock()
	sub := p.sub
	p.mu.Unlock()
	if sub == nil {
		return nil
	}
	over := make(chan struct{})
	sub.SetClosedHandler(func(string) { close(over) })
	if err := sub.Drain(); err == nil {
		select {
		case <-over:
		case <-ctx.Done():
		}
	}
	p.mu.Lock()
	rest := p.queue
	p.mu.Unlock()
	p.drop()
	return rest
}

// take keeps what the subscription with this prefix got.
func (p *pulls) take(prefix string, m *nats.Msg) {
	p.mu.Lock()
	defer p.signal()
	defer p.mu.Unlock()
	if prefix != p.prefix {
		return
	}
	now := time.Now()
	token, isStatus := strings.CutPrefix(m.Subject, prefix)
	if !isStatus {
		meta, err := m.Metadata()
		if err != nil {
			return // somebody else's message to our inbox
		}
		p.heard = now
		p.queue = append(p.queue, arrived{msg: m, meta: meta, at: now})
		p.got++
		if p.left--; p.left <= 0 && p.open {
			p.open, p.end = false, pullDone
		}
		return
	}
	if token == tokenPin { // the answer to what keeps the pin matters if the pin is gone
		if m.Header.Get("Status") == "423" {
			p.open, p.end = false, pullPin
		}
		return
	}
	if number, err := strconv.ParseUint(token, 10, 64); err != nil || number != p.number || !p.open {
		return // of an older request
	}
	p.heard = now
	if status := m.Header.Get("Status"); status != "100" {
		p.open = false
		p.end, p.reason = readEnd(status, m.Header.Get("Description"))
	}
}

// readEnd says what the server's status means.
func readEnd(status, description string) (pullEnd, string) {
	lower := strings.ToLower(description)
	has := func(words string) bool { return strings.Contains(lower, words) }
	switch {
	case status == "404", status == "408" && !has("requests pending"), has("batch completed"):
		return pullDone, ""
	case status == "408":
		return pullBusy, ""
	case status == "423":
		return pullPin, ""
	case status == "503":
		return pullNobody, ""
	case has("message size exceeds"):
		return pullLarge, ""
	case has("consumer deleted"):
		return pullDeleted, ""
	case has("leadership"), has("shutdown"), has("interest"), has("waiting"):
		return pullMoved, ""
	}
	return pullRefused, "status " + status + ": " + description
}

// tokenPin is the last part of the reply subject of what keeps the pin.
const tokenPin = "pin"

// ask sends a request. Without a subscription it does nothing.
func (p *pulls) ask(subject string, r pullRequest) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	p.mu.Lock()
	if p.sub == nil {
		p.mu.Unlock()
		return nil
	}
	p.number++
	p.open, p.left, p.got, p.heard, p.end, p.reason = true, r.Batch, 0, time.Now(), pullDone, ""
	reply := p.prefix + strconv.FormatUint(p.number, 10)
	p.mu.Unlock()
	if err := p.nc.PublishRequest(subject, reply, text); err != nil {
		p.giveUp()
		return err
	}
	return nil
}

// keepPin says that a pinned member is still there: a request that no message can fit.
func (p *pulls) keepPin(subject, pin string) error {
	text, err := json.Marshal(pullRequest{Batch: 1, MaxBytes: 1, NoWait: true, Group: priorityGroup, ID: pin})
	if err != nil {
		return err
	}
	p.mu.Lock()
	prefix := p.prefix
	p.mu.Unlock()
	if prefix == "" {
		prefix = p.nc.NewInbox() + "." // nobody need hear the answer
	}
	return p.nc.PublishRequest(subject, prefix+tokenPin, text)
}

// giveUp takes the request under way for lost.
func (p *pulls) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open, p.end = false, pullDone
}

// pullState is where the last request stands.
type pullState struct {
	ready  bool // there is a subscription
	open   bool
	mute   bool // open, and nothing was heard for too long
	queued int
	got    int
	end    pullEnd
	reason string
}

func (p *pulls) state(now time.Time) pullState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return pullState{
		ready: p.sub != nil, open: p.open, mute: p.open && now.Sub(p.heard) > pullMute,
		queued: len(p.queue), got: p.got, end: p.end, reason: p.reason,
	}
}

// first returns the oldest message that has come, without taking it.
func (p *pulls) first() (arrived, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return arrived{}, false
	}
	return p.queue[0], true
}

// waiting is how many messages have come, and when the latest of them was stored.
func (p *pulls) waiting() (n int, stored time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.queue {
		if a.meta.Timestamp.After(stored) {
			stored = a.meta.Timestamp
		}
	}
	return len(p.queue), stored
}

// rest returns what has come, without taking it.
func (p *pulls) rest() []arrived {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.queue)
}

// skip takes the oldest message away.
func (p *pulls) skip() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) > 0 {
		p.queue[0] = arrived{}
		p.queue = p.queue[1:]
	}
}
