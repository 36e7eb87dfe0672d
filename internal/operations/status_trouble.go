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
	return "somebody dropped its table; restore it from a backup, or make it again empty with postbag migrate up --box " + box
}

// Troubles returns what an operator should look at, one line each.
func (v *Status) Troubles() []string {
	var out []string
	for i := range v.Boxes {
		b := &v.Boxes[i]
		if b.Missing {
			out = append(out, fmt.Sprintf("box %s: %s", b.Name, MissingTable(b.Name)))
		}
		for _, n := range b.Notices {
			out = append(out, fmt.Sprintf("box %s: %s; see that nothing else is amiss, then run postbag ledger accept --box %s", b.Name, n.InWords(), b.Name))
		}
		if len(b.Subscriptions) == 0 && b.Messages+b.Scheduled > 0 {
			out = append(out, fmt.Sprintf("box %s has messages and no subscription; start a relay", b.Name))
		}
		for j := range b.Subscriptions {
			s := &b.Subscriptions[j]
			out = append(out, s.troubles(b.Name+"/"+s.Name)...)
		}
	}
	return out
}

// troubles are those of a subscription, at BOX/NAME.
func (v *Subscription) troubles(at string) (out []string) {
	switch {
	case v.Owned == 0 && v.ReplayOf != "":
		out = append(out, "nobody works the replay "+at+"; go on with postbag replay resume, or end it with postbag replay cancel")
	case v.Owned == 0 && v.Unworked != "":
		out = append(out, "no relay works "+at+": "+v.Unworked)
	case v.Owned == 0:
		out = append(out, "no relay works "+at+"; start one")
	}
	if v.Unreadable != "" {
		out = append(out, "the filter of "+at+" is "+store.ConditionUnreadable+": "+v.Unreadable+"; update postbag and its relays, or set the whole filter again")
	}
	if v.Paused && !slices.ContainsFunc(v.Pauses, func(p Pause) bool { return p.Scope == string(store.PauseSubscription) }) {
		out = append(out, at+" is paused by an operator; nothing of it is delivered until it is resumed")
	}
	for i := range v.Pauses {
		out = append(out, v.Pauses[i].Of()+" is paused "+v.Pauses[i].InWords())
	}
	for _, name := range v.Older {
		out = append(out, at+": "+OlderText(name))
	}
	if d := v.Destination; d != nil && d.State != "closed" { // one that is away is often being probed
		_, predicate := d.Words()
		why := ""
		if d.Error != "" {
			why = ": " + d.Error
		}
		out = append(out, fmt.Sprintf("the destination of %s %s since %s%s", at, predicate, Span(Seconds(d.Since)), why))
	}
	for _, h := range v.Held {
		out = append(out, fmt.Sprintf("topic %s of %s does not work, messages held: %d", h.Topic, at, h.Messages))
	}
	if n := v.Parked[store.ParkDead.String()]; n > 0 {
		out = append(out, fmt.Sprintf("%d messages of %s are dead; see postbag messages list --state dead", n, at))
	}
	return out
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
		return strings.TrimSuffix(strings.TrimSuffix(d.Round(time.Second).String(), "0s"), "0m")
	}
	return fmt.Sprintf("%.1fd", d.Hours()/24)
}
