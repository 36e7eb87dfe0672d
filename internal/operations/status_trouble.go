package operations

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// destinationWords are the states in words, in a table and as the predicate of a sentence:
// an operator need not know circuit breakers.
var destinationWords = map[string]struct{ word, predicate string }{
	"closed":  {"works", "works"},
	"probing": {"probing", "takes no messages"},
	"open":    {"away", "takes no messages"},
	"held":    {"full", "waits for topics that do not work, or for the end of a pause"},

	store.ConditionUnreadable: {"unreadable", "gets nothing from this relay, which cannot read the filter"},
}

// Words returns the state as one word, and as the predicate of a sentence.
func (d *Destination) Words() (word, predicate string) {
	words, known := destinationWords[d.State]
	if !known { // a newer relay says it
		return d.State, "is " + d.State
	}
	return words.word, words.predicate
}

// InWords says what was done, why and when.
func (n *Notice) InWords() string {
	return fmt.Sprintf("%s ago postbag decided to %s: %s", Span(Seconds(n.Ago)), n.What, n.Why)
}

// MissingTable says what to do about a box whose table somebody dropped.
func MissingTable(box string) string {
	return missingTable + " with postbag migrate up --box " + box
}

const missingTable = "somebody dropped its table; restore it from a backup, or make it again empty"

// Trouble is something that an operator should look at.
type Trouble struct {
	// Text says what is wrong.
	Text string
	// Command are the arguments of the command that helps, without those that name the store. None: no command does.
	Command []string
	// Why: the command asks for a reason too (--why).
	Why bool
	// Box and Subscription are what it is of. No subscription: all of the box.
	Box, Subscription string
	// State is that of the messages that it is about. Empty: it is about no messages.
	State store.State

	see bool // the command changes nothing
}

// String is the trouble with its command in one line.
func (t *Trouble) String() string {
	switch {
	case len(t.Command) < 2: // none, or one that says no more than the text: start a relay
		return t.Text
	case t.see:
		return t.Text + "; see " + t.Shell("")
	}
	return t.Text + "; run " + t.Shell("") + map[bool]string{true: "WHY"}[t.Why]
}

// Shell is the command for a shell, with the arguments that name the store. One that needs a reason ends where that is to be written.
func (t *Trouble) Shell(store string) string {
	if t.Command == nil {
		return ""
	}
	words := []string{"postbag"}
	flags := len(t.Command)
	for i, word := range slices.Backward(t.Command) {
		if strings.HasPrefix(word, "-") {
			flags = i
		}
	}
	for i, word := range t.Command {
		if i == flags && store != "" { // behind the words of the command
			words = append(words, store)
		}
		words = append(words, Quoted(word))
	}
	if flags == len(t.Command) && store != "" {
		words = append(words, store)
	}
	if t.Why {
		words = append(words, "--why ")
	}
	return strings.Join(words, " ")
}

// Troubles returns what an operator should look at, one line each.
func (v *Status) Troubles() (out []string) {
	for _, t := range v.Found() {
		out = append(out, t.String())
	}
	return out
}

// Found returns what an operator should look at.
func (v *Status) Found() (out []Trouble) {
	for i := range v.Boxes {
		out = append(out, v.Boxes[i].found()...)
	}
	return out
}

func (b *Box) found() (out []Trouble) {
	if b.Missing {
		out = append(out, Trouble{Text: "box " + b.Name + ": " + missingTable, Command: []string{"migrate", "up", "--box", b.Name}})
	}
	for _, n := range b.Notices {
		out = append(out, Trouble{
			Text: fmt.Sprintf("box %s: %s; see that nothing else is amiss, then accept it", b.Name, n.InWords()), Command: []string{"ledger", "accept", "--box", b.Name}, Why: true,
		})
	}
	if len(b.Subscriptions) == 0 && b.Messages+b.Scheduled > 0 {
		out = append(out, Trouble{Text: fmt.Sprintf("box %s has messages and no subscription; start a relay", b.Name), Command: []string{"relay"}})
	}
	for j := range b.Subscriptions {
		s := &b.Subscriptions[j]
		for _, t := range s.found(b.Name) {
			t.Subscription = s.Name
			out = append(out, t)
		}
	}
	for i := range out {
		out[i].Box = b.Name
	}
	return out
}

// found are the troubles of a subscription of a box.
func (v *Subscription) found(box string) (out []Trouble) {
	at := box + "/" + v.Name
	of := []string{"--box", box, "--subscription", v.Name}
	out = v.unworked(box, at)
	if v.Unreadable != "" {
		out = append(out, Trouble{Text: "the filter of " + at + " is " + store.ConditionUnreadable + ": " + v.Unreadable + "; update postbag and its relays, or set the whole filter again"})
	}
	if v.Paused && !slices.ContainsFunc(v.Pauses, func(p Pause) bool { return p.Scope == string(store.PauseSubscription) }) {
		out = append(out, Trouble{
			Text: at + " is paused by an operator; nothing of it is delivered until it is resumed", Command: []string{"subscriptions", "resume", "--box", box, "--subscription", v.Name}, Why: true,
		})
	}
	for i := range v.Pauses {
		out = append(out, v.Pauses[i].found())
	}
	for _, name := range v.Older {
		out = append(out, Trouble{Text: at + ": " + OlderText(name)})
	}
	if d := v.Destination; d != nil && d.State != "closed" { // one that is away is often being probed
		_, predicate := d.Words()
		why := ""
		if d.Error != "" {
			why = ": " + d.Error
		}
		out = append(out, Trouble{Text: fmt.Sprintf("the destination of %s %s, now for %s%s", at, predicate, Span(Seconds(d.Since)), why)})
	}
	for _, h := range v.Held {
		out = append(out, Trouble{
			Text: fmt.Sprintf("topic %s of %s does not work, messages held: %d", h.Topic, at, h.Messages), State: store.StateHeld, see: true,
			Command: append(append([]string{"messages", "list"}, of...), "--state", string(store.StateHeld)),
		})
	}
	if n := v.Parked[store.ParkDead.String()]; n > 0 {
		out = append(out, Trouble{
			Text: deadText(n, v.Parked[store.ParkBlocked.String()], at), State: store.StateDead, see: true,
			Command: append(append([]string{"messages", "list"}, of...), "--state", string(store.StateDead)),
		})
	}
	return out
}

// deadText says how many messages are dead, and how many are blocked: the key of a dead message does not go on, unless its subscription
// says so.
func deadText(dead, blocked int64, at string) string {
	text := fmt.Sprintf("%d messages of %s are dead", dead, at)
	if dead == 1 {
		text = fmt.Sprintf("1 message of %s is dead", at)
	}
	switch blocked {
	case 0:
		return text
	case 1:
		return text + ", and 1 waits behind one of its key"
	default:
		return fmt.Sprintf("%s, and %d wait behind one of their key", text, blocked)
	}
}

// unworked says that no relay works a subscription.
func (v *Subscription) unworked(box, at string) []Trouble {
	switch {
	case v.Owned > 0:
		return nil
	case v.ReplayOf != "":
		return []Trouble{{Text: "nobody works the replay " + at + "; go on with it, or end it with postbag replay cancel", Command: []string{"replay", "resume", v.Name, "--box", box}, Why: true}}
	case v.Unworked != "":
		return []Trouble{{Text: "no relay works " + at + ": " + v.Unworked}}
	}
	return []Trouble{{Text: "no relay works " + at + "; start one", Command: []string{"relay"}}}
}

// found says that something is paused, and how to resume it.
func (p *Pause) found() Trouble {
	t := Trouble{Text: p.Of() + " is paused " + p.InWords()}
	if !Pasteable(p.Value) {
		return t
	}
	t.Command, t.Why = []string{"subscriptions", "resume"}, true
	if scope := store.PauseScope(p.Scope); scope != store.PauseDestination {
		t.Command = append(t.Command, "--box", p.Box, "--subscription", p.Subscription)
	}
	if p.Value != "" {
		t.Command = append(t.Command, "--"+p.Scope, p.Value)
	}
	return t
}

// Seconds is a number of seconds as a duration.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Span is a length of time for people.
func Span(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return fmt.Sprintf("%dms", max(d.Milliseconds(), 1))
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < 48*time.Hour:
		text := d.Round(time.Second).String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return text
	}
	return fmt.Sprintf("%.1fd", d.Hours()/24)
}
