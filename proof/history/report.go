package history

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Promise is what a validator judges.
type Promise int

// The promises, in the order of a report.
const (
	// Sound: the records do not contradict each other.
	Sound Promise = iota
	// Lost: what was committed was delivered, or is parked, or an operator removed it.
	Lost
	// Rest: nothing waits in the store that could be delivered.
	Rest
	// Phantom: what was delivered was committed.
	Phantom
	// Order: the first deliveries of a key's messages stand in the order of their commits.
	Order
	// Duplicates: each is explained by a fault, and there are no more than the faults' windows.
	Duplicates
	// Bytes: what was delivered is what was published.
	Bytes
	// Schedule: nothing was delivered before it was due.
	Schedule
	// Attempts: only refusals by the destination count against a message.
	Attempts
	// Takeovers: the shards of a dead relay were taken over in time.
	Takeovers
	// Resumes: deliveries went on in time when a fault had ended.
	Resumes
	// Transactions: no relay's transaction was open while it spoke to its destination.
	Transactions
	// Locks: no producer waited for a relay.
	Locks
	// Applied: each message has its effect exactly once, and the effects of a key stand in the order of its commits.
	Applied
)

// promises is how many there are.
const promises = int(Applied) + 1

var promiseNames = [promises]string{
	"sound", "lost", "rest", "phantom", "order", "duplicates", "bytes", "schedule", "attempts", "takeovers", "resumes",
	"transactions", "locks", "applied",
}

// judgedNames say what is counted by Verdict.Seen.
var judgedNames = [promises]string{
	"messages and transactions", "committed messages", "committed messages", "messages", "messages behind another of their key", "deliveries",
	"deliveries", "scheduled messages", "messages and looks", "takeovers", "ends of faults", "looks", "looks",
	"messages",
}

func (p Promise) String() string { return promiseNames[p] }

// MarshalText is String.
func (p Promise) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Report is the verdict on each promise.
type Report struct {
	Verdicts [promises]Verdict `json:"verdicts"` // by Promise
}

// Verdict says whether a promise was held.
type Verdict struct {
	Promise Promise `json:"promise"`
	Held    bool    `json:"held"`
	Seen    int     `json:"seen"`   // how much could have broken it; zero: it was held because nothing put it to the test
	Broken  int     `json:"broken"` // how many breaches there are
	// Counts tell more of what was seen and what was broken, in the order in which they should be read.
	Counts   []Count   `json:"counts,omitempty"`
	Examples []Example `json:"examples,omitempty"` // the first breaches
}

// Count is how many of something there were.
type Count struct {
	Of string `json:"of"`
	N  int    `json:"n"`
}

// Example is one breach, with all that is known of it.
type Example struct {
	Why        string     `json:"why"`
	Messages   []Message  `json:"messages,omitempty"`
	Deliveries []Delivery `json:"deliveries,omitempty"`
	Effects    []Effect   `json:"effects,omitempty"`
	Commands   []Command  `json:"commands,omitempty"`
	Stored     *Stored    `json:"stored,omitempty"`
	Found      *Found     `json:"found,omitempty"` // what the Lookup said
	Gap        *Gap       `json:"gap,omitempty"`
	Watch      *Watch     `json:"watch,omitempty"`
}

// Message is a message that a writer meant to publish, and what became of its transaction.
type Message struct {
	Intent

	Fate        Fate          `json:"fate"`
	CommitBegin time.Duration `json:"commitBegin"`
	CommitEnd   time.Duration `json:"commitEnd"` // the fate's answer; zero if there was none
}

// Of is the verdict on a promise.
func (r *Report) Of(p Promise) *Verdict { return &r.Verdicts[p] }

// Held says whether all promises were held.
func (r *Report) Held() bool {
	for i := range r.Verdicts {
		if !r.Verdicts[i].Held {
			return false
		}
	}
	return true
}

// Summary says in a line what became of all promises.
func (r *Report) Summary() string {
	var broken []string
	held := 0
	for i := range r.Verdicts {
		switch v := &r.Verdicts[i]; {
		case !v.Held:
			broken = append(broken, v.Promise.String())
		case v.Seen > 0:
			held++
		}
	}
	out := fmt.Sprintf("%d held", held)
	if len(broken) > 0 {
		out = fmt.Sprintf("%d BROKEN (%s), %s", len(broken), strings.Join(broken, ", "), out)
	}
	if idle := promises - held - len(broken); idle > 0 {
		out += fmt.Sprintf(", %d not put to the test", idle)
	}
	return out
}

// Err is nil if all promises were held, and else says which were not and shows a breach of each.
func (r *Report) Err() error {
	var all []error
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Held {
			continue
		}
		text := fmt.Sprintf("history: %v is broken %d times", v.Promise, v.Broken)
		if len(v.Examples) > 0 {
			text += ", first: " + v.Examples[0].String()
		}
		all = append(all, errors.New(text))
	}
	return errors.Join(all...)
}

// N is a count of the verdict by its name, zero if it has none.
func (v *Verdict) N(of string) int {
	for _, c := range v.Counts {
		if c.Of == of {
			return c.N
		}
	}
	return 0
}

// Line is the verdict without its examples.
func (v *Verdict) Line() string {
	word := "held"
	switch {
	case !v.Held:
		word = fmt.Sprintf("BROKEN %d times", v.Broken)
	case v.Seen == 0:
		word = "not put to the test"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %s", v.Promise, word)
	separator := "; "
	if v.Seen > 0 {
		fmt.Fprintf(&b, "; judged %d %s", v.Seen, judgedNames[v.Promise])
		separator = ", "
	}
	for _, c := range v.Counts {
		fmt.Fprintf(&b, "%s%s %d", separator, c.Of, c.N)
		separator = ", "
	}
	return b.String()
}

// String is the report as text, a line for each promise and one for each example.
func (r *Report) String() string {
	var b strings.Builder
	_, _ = r.WriteTo(&b) // a Builder takes all
	return b.String()
}

// WriteTo writes the report as text.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	var sum int64
	put := func(text string) error {
		n, err := io.WriteString(w, text)
		sum += int64(n)
		return err
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if err := put(v.Line() + "\n"); err != nil {
			return sum, err
		}
		for j := range v.Examples {
			if err := put("    " + strings.ReplaceAll(v.Examples[j].String(), "\n", "\n    ") + "\n"); err != nil {
				return sum, err
			}
		}
	}
	return sum, nil
}

// String is the example as text of some lines.
func (e *Example) String() string {
	var b strings.Builder
	b.WriteString(e.Why)
	for i := range e.Messages {
		b.WriteString("\n  message " + e.Messages[i].String())
	}
	for i := range e.Deliveries {
		b.WriteString("\n  delivery " + e.Deliveries[i].String())
	}
	for i := range e.Effects {
		b.WriteString("\n  effect " + e.Effects[i].String())
	}
	for _, c := range e.Commands {
		fmt.Fprintf(&b, "\n  command to %v %v, unanswered %v, %v to %v", c.What, c.ID, c.Unknown, c.Begin, c.End)
	}
	if s := e.Stored; s != nil {
		fmt.Fprintf(&b, "\n  the store has %v as %v with %d attempts", s.ID, s.State, s.Attempts)
	}
	if f := e.Found; f != nil {
		fmt.Fprintf(&b, "\n  looked up: in the store %v, in the broker %v %s", f.State, f.Broker, f.Note)
	}
	if g := e.Gap; g != nil {
		fmt.Fprintf(&b, "\n  %v of %s, %v to %v", g.Kind, g.Of, g.Begin, g.End)
	}
	if w := e.Watch; w != nil {
		fmt.Fprintf(&b, "\n  %v of %s, %v to %v", w.Kind, w.Of, w.Begin, w.End)
	}
	return b.String()
}

// String is the message as text of one line.
func (m *Message) String() string {
	text := fmt.Sprintf("%v key %q: index %d of tx %d, published %v to %v, %v %v to %v",
		m.ID, m.Key, m.Index, m.Tx, m.Begin, m.End, m.Fate, m.CommitBegin, m.CommitEnd)
	if m.Box+m.Topic != "" {
		text += fmt.Sprintf(", box %q, topic %q", m.Box, m.Topic)
	}
	if m.Due > 0 {
		text += fmt.Sprintf(", due %v", m.Due)
	}
	if m.Payload != (Hash{}) {
		text += fmt.Sprintf(", payload %v", m.Payload)
	}
	return text
}

// String is the delivery as text of one line.
func (d *Delivery) String() string {
	at := "at an unknown time"
	if d.To != 0 {
		at = fmt.Sprintf("%v to %v", d.From, d.To)
	}
	text := fmt.Sprintf("%v key %q: in %q at %d, stored %s", d.ID, d.Key, d.Place, d.Position, at)
	if d.Payload != (Hash{}) {
		text += fmt.Sprintf(", payload %v", d.Payload)
	}
	return text
}

// String is the effect as text of one line.
func (e *Effect) String() string {
	text := fmt.Sprintf("%v key %q: at %d among the effects", e.ID, e.Key, e.Position)
	if e.At != 0 {
		text += fmt.Sprintf(", applied %v", e.At)
	}
	if e.Payload != (Hash{}) {
		text += fmt.Sprintf(", payload %v", e.Payload)
	}
	return text
}
