package faketime

import (
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// line is a subscription with its destination. What the seed drew of it holds for all relays of a run.
type line struct {
	store.Ref

	broker    *membroker.Destination
	types     []string
	shards    int
	ordered   bool // the broker keeps the order of a key within a call
	exactly   bool
	unordered bool // the policy promises no order
	policy    relay.Subscription
	changed   bool                     // an operator has changed its filter
	refusals  map[postbag.ID]time.Time // when the broker first rejected what, or it could not be read
}

// kind is a topic with the type of its messages.
type kind struct{ topic, typ string }

var kinds = []kind{{"orders", "order.made"}, {"bills", "bill.sent"}, {"mails", ""}}

// filters are the Types that a subscription may have.
var filters = [][]string{nil, nil, {"order.*"}, {"bill.sent", "order.*"}}

// wants says whether the subscription has messages of a topic delivered.
func (l *line) wants(topic string) bool {
	if len(l.types) == 0 {
		return true
	}
	for _, k := range kinds {
		for _, t := range l.types {
			prefix, open := strings.CutSuffix(t, "*")
			if k.topic == topic && (k.typ == t || open && strings.HasPrefix(k.typ, prefix)) {
				return true
			}
		}
	}
	return false
}

// newLine draws a subscription.
func (w *world) newLine(number int) *line {
	c := w.chance
	l := &line{Ref: store.Ref{Box: w.boxes[c.n(len(w.boxes))], Subscription: fmt.Sprintf("line-%d", number)}}
	l.types, l.shards = filters[c.n(len(filters))], 1+c.n(9)
	l.exactly, l.refusals = c.one(3), map[postbag.ID]time.Time{}
	l.ordered = l.exactly || c.coin()
	l.policy = relay.Subscription{
		ToName: l.Ref.String(), Box: l.Box, Name: l.Subscription, Types: l.types, Shards: l.shards, ExactlyOnce: l.exactly,
		InFlight: c.of(5, 20, 100), Batch: c.of(1, 3, 10, 50), RetryBatch: c.of(0, 1, 3), Concurrency: c.of(0, 1, 3),
		Timeout: 2 * time.Second, MaxHeld: c.of(0, 0, 5), Buffer: c.of(0, 0, 2000),
		Retry: relay.Retry{Min: time.Second, Max: 5 * time.Second, MaxAttempts: c.of(0, 2, 4), Quick: c.of(0, 0, 2)},
		Order: relay.Order(c.of(int(relay.ByKey), int(relay.ByKey), int(relay.ByShard), int(relay.Unordered))),
	}
	switch {
	case c.one(4):
		l.policy.OnReject = relay.Skip
	case c.one(3) && l.policy.Order == relay.ByKey && !l.exactly:
		l.policy.OnReject = relay.Supersede
	}
	l.policy.Batch = min(l.policy.Batch, l.policy.InFlight)
	l.unordered = l.policy.Order == relay.Unordered || l.policy.OnReject == relay.Skip
	l.broker = membroker.New(membroker.Options{
		Ordered: l.ordered, Transactions: l.exactly, Decide: w.decider(l, uint64(number)), Transact: w.transactor(uint64(number)),
	})
	return l
}

// of is the line's subscription as a relay is told it. One may have another order than others have, if the line has any.
func (l *line) of(c *chance) relay.Subscription {
	s := l.policy
	if !l.exactly && !l.unordered && !l.supersedes() && c.one(4) {
		s.Order = relay.Order(c.of(int(relay.ByKey), int(relay.ByShard)))
	}
	return s
}

// supersedes says that newer messages of a key end its rejected ones.
func (l *line) supersedes() bool { return l.policy.OnReject == relay.Supersede }

// refused notes that a message was rejected, or cannot be read.
func (l *line) refused(id postbag.ID) {
	if _, again := l.refusals[id]; !again {
		l.refusals[id] = time.Now()
	}
}

// slowness is the longest that a message takes while nothing goes wrong: those of a key in one call take it one after the other.
func (l *line) slowness() time.Duration {
	if l.policy.Batch > 10 {
		return 40 * time.Millisecond
	}
	return 200 * time.Millisecond
}

func (l *line) String() string {
	p := &l.policy
	return fmt.Sprintf("%s: %d shards, types %v, order %d, on reject %d, exactly once %v, ordered broker %v, in flight %d, batch %d, concurrency %d, attempts %d",
		l.Ref, l.shards, l.types, p.Order, p.OnReject, l.exactly, l.ordered, p.InFlight, p.Batch, p.Concurrency, p.Retry.MaxAttempts)
}
