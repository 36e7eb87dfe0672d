package simulation

import (
	"testing"

	"github.com/postbag/postbag/proof/history"
)

// BenchmarkRun makes runs of seeds one after another: one run is an operation.
func BenchmarkRun(b *testing.B) {
	for _, store := range []Store{"", Snapshots, Ranges, Serial} {
		name := string(store)
		if name == "" {
			name = "drawn"
		}
		b.Run(name, func(b *testing.B) {
			var s Simulator
			steps, turns := 0, 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				o := DefaultOptions(uint64(i))
				o.Store = store
				r, err := s.Run(o)
				if err != nil || r.Violation != nil {
					b.Fatal(o.Seed, err, r.Violation)
				}
				steps, turns = steps+r.Steps, turns+r.Counts.Turns
			}
			b.ReportMetric(float64(steps)/float64(b.N), "steps/op")
			b.ReportMetric(float64(turns)/float64(b.N), "turns/op")
		})
	}
}

// BenchmarkAgenda is the plainest that a step can be: of fifty events one is drawn,
// which plans another.
func BenchmarkAgenda(b *testing.B) {
	w := newWorld()
	w.chance.seed(1)
	for range 50 {
		w.schedule(w.lag(), nil, doing(func() {}), 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		at, e := w.agenda.next(w.now, &w.chance, nil)
		w.now = at
		w.schedule(w.lag(), nil, e.to, e.as)
	}
}

// BenchmarkVerdict judges the history of a run of a thousand messages once more.
func BenchmarkVerdict(b *testing.B) {
	var s Simulator
	o := DefaultOptions(1)
	o.Messages = 1000
	if r, err := s.Run(o); err != nil || r.Violation != nil {
		b.Fatal(err, r.Violation)
	}
	h := s.w.recorders.history
	judged := history.Options{InFlight: s.w.plan.cfg.InFlight, MayPend: true, Lookup: s.w.lookUp}
	b.ReportAllocs()
	for b.Loop() {
		h.Check(judged)
	}
}
