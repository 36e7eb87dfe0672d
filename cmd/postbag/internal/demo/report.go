package demo

import (
	"fmt"
	"text/tabwriter"
	"time"
)

// report writes the closing table and says whether all promises were kept.
func (s *scene) report() bool {
	s.screen.wipe()
	lost, phantoms := s.checker.compare(s.shop.orders())
	c := s.checker
	c.mu.Lock()
	distinct, duplicates, disorder := c.distinct, c.duplicates, c.disorder
	c.mu.Unlock()
	explained := "what a relay repeats after a kill, the broker drops by its id (Nats-Msg-Id)"
	if duplicates > 0 {
		explained = fmt.Sprintf("sent by a relay that was killed before it noted the answer; at most %d for %d kills",
			s.kills*inFlight, s.kills)
	}
	w := tabwriter.NewWriter(s.screen.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w)
	for _, row := range []struct {
		name  string
		value any
		note  string
	}{
		{"committed", s.shop.committed(), "orders, each in one transaction with its message"},
		{"rolled back", s.shop.rolledBack(), "transactions given up after they had published"},
		{"delivered", distinct, "distinct messages in the stream"},
		{"lost", lost, "committed and not delivered"},
		{"phantoms", phantoms, "delivered and not committed"},
		{"out of order", disorder, "a customer's order before an earlier one of the same customer"},
		{"duplicates", duplicates, explained},
		{"relay killed", s.kills, "times, without warning"},
		{"longest pause", s.pause.longest.Round(100 * time.Millisecond), "while orders waited; leases last 2 s, the broker was away 2 s"},
		{"time", time.Since(s.begun).Round(100 * time.Millisecond), ""},
	} {
		_, _ = fmt.Fprintf(w, "%s\t%v\t%s\n", row.name, row.value, row.note)
	}
	_ = w.Flush()
	return lost == 0 && phantoms == 0 && disorder == 0 && duplicates <= s.kills*inFlight
}
