package chaos

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, seed %d, faults for %v\n", r.Pair, strings.Join(r.Versions, " to "), r.Seed, r.For)
	fmt.Fprintf(&b, "promises: %s\n", r.History.Summary())
	for _, f := range r.Failures {
		b.WriteString("WRONG: " + f + "\n")
	}
	l := &r.Load
	worker, arrived := "relay", "deliveries in the broker"
	if r.Inbox {
		worker, arrived = "consumer", "effects"
	}
	fmt.Fprintf(&b, "load: %s, %s, %s, %d of them settled after their producer was killed, %d undecided\n",
		count(l.Relays, worker), count(l.Producers, "producer"), count(l.Transactions, "transaction"), l.Inherited, l.Unknown)
	fmt.Fprintf(&b, "messages: %d committed, %d rolled back, %d %s\n", l.Committed, l.RolledBack, l.Arrived, arrived)
	if !r.Inbox && l.Effects > 0 {
		fmt.Fprintf(&b, "effects behind the broker: %d\n", l.Effects)
	}
	fmt.Fprintf(&b, "\nfaults: %d, by number, begin and length\n", len(r.Faults))
	for i, f := range r.Faults {
		fmt.Fprintf(&b, "%6d %8.2fs %7.2fs  %-20s  %s%s\n", i+1, f.At.Seconds(), f.For.Seconds(), f.Room, f.Fault, parenthesis(f.Notes))
	}
	b.WriteString("\nhow often each came and had an effect, and how often it had none\n")
	kinds := slices.AppendSeq(slices.Collect(maps.Keys(r.Counts)), maps.Keys(r.Idle))
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(r.Counts[b]-r.Counts[a], strings.Compare(a, b)) })
	for _, kind := range slices.Compact(kinds) {
		fmt.Fprintf(&b, "%6d %6d  %s\n", r.Counts[kind], r.Idle[kind], kind)
	}
	b.WriteString("\npromises\n" + r.History.String())
	_, err := io.WriteString(w, b.String())
	return err
}

// parenthesis is notes as they follow something.
func parenthesis(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}

// count is a number of things, by the name of one.
func count(n int, of string) string {
	if n != 1 {
		of += "s"
	}
	return fmt.Sprintf("%d %s", n, of)
}

// lasted is a length for people.
func lasted(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
