package mutants

// Mistakes in holding a subscription to its rate.
var rating = []Mutant{
	{
		Name: "rate-saved-up", What: "what was not sent while there was nothing to send may be sent later, all at once",
		Evidence: "token buckets without a bound; a day of rest is then a flood",
		Patches:  []Patch{{"internal/engine/rate.go", "	b.level = min(b.level+b.rate*pace*passed.Seconds(), b.burst*share)\n", "	b.level += b.rate * pace * passed.Seconds() * min(share*4096, 1)\n"}},
		By:       sim(), Quick: true,
	},
	{
		Name: "shared-rate-not-divided", What: "each relay takes the whole of a rate that they share",
		Evidence: "limits in each process: ten replicas call ten times as often",
		Patches:  []Patch{{"internal/engine/rate.go", "	l.share = float64(slots) / slotCount\n", "	l.share = min(float64(slots), 1)\n"}},
		By:       sim(),
	},
	{
		Name: "takeover-brings-a-burst", What: "shards that a relay takes over bring a burst of their own",
		Evidence: "limits in the memory of a process: each restart begins with a full bucket",
		Patches:  []Patch{{"internal/engine/rate.go", "	l.least = min(l.least, l.share)\n", "	l.least = l.share\n	l.messages.level, l.bytes.level = l.messages.burst*l.share, l.bytes.burst*l.share\n"}},
		By:       sim(),
	},
	{
		Name: "retries-without-rate", What: "parked messages that are tried do not count",
		Evidence: "a limit on publishing beside a pool of retries without one",
		Patches:  []Patch{{"internal/engine/call_send.go", "	if f.rate != nil {\n		f.rate.take(e)", "	if f.rate != nil && !e.parked {\n		f.rate.take(e)"}},
		By:       sim(),
	},
	{
		Name: "debt-forgiven", What: "what a large message took too much is forgotten",
		Evidence: "limiters that let a request go when anything is left",
		Patches:  []Patch{{"internal/engine/rate.go", "		l.bytes.level -= float64(Weigh(e.Record))\n", "		l.bytes.level = max(l.bytes.level-float64(Weigh(e.Record)), 0)\n"}},
		By:       sim(),
	},
	{
		Name: "larger-than-the-burst-stuck", What: "a message larger than the burst waits for ever, and all behind it",
		Evidence: "golang.org/x/time/rate: WaitN of more than the burst never succeeds",
		Patches:  []Patch{{"internal/engine/rate.go", "b.level+nearly >= min(n, b.burst*share)\n", "b.level+nearly >= n\n"}},
		By:       sim(),
	},
	{
		Name: "trial-without-rate", What: "a message that finds out whether the destination works does not wait for the rate",
		Evidence: "made on purpose",
		Patches:  []Patch{{"internal/engine/call_circuit.go", "	if f.rate != nil && !f.asksProber() && !f.counting() {", "	if f.rate != nil && f.rate.mayNot() {"}, {"internal/engine/rate.go", "// mayTry says", "func (l *limiter) mayNot() bool { l.trial = true; return false }\n\n// mayTry says"}},
		By:       sim(),
	},
}
