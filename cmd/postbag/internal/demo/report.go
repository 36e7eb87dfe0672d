package demo

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"
)

// Report is how a run ended. Names of fields in JSON are a contract.
type Report struct {
	// Store is the database: its name and version.
	Store string `json:"store"`
	// Committed orders, and transactions that were given up.
	Committed  int `json:"committed"`
	RolledBack int `json:"rolled_back"`
	// Delivered is how many distinct messages arrived.
	Delivered int `json:"delivered"`
	// Lost were committed and did not arrive, Phantoms the other way round.
	Lost     int `json:"lost"`
	Phantoms int `json:"phantoms"`
	// Disorder is how many arrived behind a later one of their customer.
	Disorder   int `json:"out_of_order"`
	Duplicates int `json:"duplicates"`
	// Applied is how many orders the billing service billed. AppliedTwice is how many
	// invoices there are beyond the first of an order, and AppliedDisorder how many were
	// written behind one of a later order of their customer. Wrong is how many customers
	// owe another sum than that of their invoices.
	Applied         int `json:"applied"`
	AppliedTwice    int `json:"applied_twice"`
	AppliedDisorder int `json:"applied_out_of_order"`
	Wrong           int `json:"wrong_sums"`
	// Kills of the relay, and of the billing service.
	Kills        int `json:"relay_kills"`
	BillingKills int `json:"billing_kills"`
	// Pause is the longest of the Pauses, and Time that of the whole run, in seconds.
	Pause  float64 `json:"longest_pause_seconds"`
	Pauses []Pause `json:"pauses"`
	Time   float64 `json:"seconds"`
	// Kept says that no promise was broken.
	Kept bool `json:"promises_kept"`
}

// judge compares what was committed with what arrived, and with what was billed.
func (s *scene) judge(ctx context.Context) (Report, error) {
	e, err := s.books.effects(ctx)
	r := Report{
		Store: s.store, Committed: s.shop.committed(), RolledBack: s.shop.rolledBack(), Kills: s.kills, BillingKills: s.billingKills,
		Applied: e.applied, AppliedTwice: e.twice, AppliedDisorder: e.disorder, Wrong: e.wrong,
		Pauses: s.pauses.list(), Time: seconds(time.Since(s.begun)),
	}
	for _, p := range r.Pauses {
		r.Pause = max(r.Pause, p.Seconds)
	}
	r.Lost, r.Phantoms = s.checker.compare(s.shop.orders())
	s.checker.mu.Lock()
	defer s.checker.mu.Unlock()
	r.Delivered, r.Duplicates, r.Disorder = s.checker.distinct, s.checker.duplicates, s.checker.disorder
	r.Kept = r.Lost == 0 && r.Phantoms == 0 && r.Disorder == 0 && r.Duplicates <= s.kills*inFlight &&
		r.Applied == r.Committed && r.AppliedTwice == 0 && r.AppliedDisorder == 0 && r.Wrong == 0
	return r, err
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// show writes the closing table.
func (r *Report) show(screen *screen) {
	screen.wipe()
	explained := "what a relay repeats after a kill, the broker drops by its id (Nats-Msg-Id)"
	if r.Duplicates > 0 {
		explained = fmt.Sprintf("sent by a relay that was killed before it noted the answer; at most %d for %d kills", r.Kills*inFlight, r.Kills)
	}
	w := tabwriter.NewWriter(screen.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w)
	for _, row := range []struct {
		name  string
		value any
		note  string
	}{
		{"committed", r.Committed, "orders, each in one transaction with its message"},
		{"rolled back", r.RolledBack, "transactions given up after they had published"},
		{"delivered", r.Delivered, "distinct messages in the stream"},
		{"lost", r.Lost, "committed and not delivered"},
		{"phantoms", r.Phantoms, "delivered and not committed"},
		{"out of order", r.Disorder, "a customer's order before an earlier one of the same customer"},
		{"duplicates", r.Duplicates, explained},
		{"applied", r.Applied, "orders with an invoice in the billing service's own database"},
		{"applied twice", r.AppliedTwice, "invoices beyond the first of an order"},
		{"applied out of order", r.AppliedDisorder, "invoices behind one of a later order of the same customer"},
		{"wrong sums", r.Wrong, "customers who owe another sum than that of their invoices"},
		{"relay killed", r.Kills, "times, without warning"},
		{"billing killed", r.BillingKills, "times, without warning"},
		{"time", fmt.Sprintf("%.1f s", r.Time), "in all"},
	} {
		_, _ = fmt.Fprintf(w, "%s\t%v\t%s\n", row.name, row.value, row.note)
	}
	for _, p := range r.Pauses {
		_, _ = fmt.Fprintf(w, "pause\t%.1f s\t%s\n", p.Seconds, p.note())
	}
	_ = w.Flush()
}
