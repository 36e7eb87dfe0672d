package mutants

// Mistakes of the core, which decides for a whole relay: what answers mean that come late, or from another store.
var deciding = []Mutant{
	{
		Name: "other-life-not-noticed", What: "an answer of another life of the database is taken like any other",
		Evidence: "made on purpose, and no test failed",
		Patches:  []Patch{{"internal/core/turn.go", "	if c.life != 0 && a.Life != 0 && a.Life != c.life {", "	if c.life < 0 && a.Life != c.life {"}},
		By:       coreTests("internal/core", "TestARelayThatReadsAnotherLife"),
	},
	{
		Name: "former-identity-not-left", What: "a relay that begins again does not give up the identity that it had",
		Evidence: "as before",
		Patches:  []Patch{{"internal/core/heartbeat.go", "		former = append(former, c.id)\n", "		former = former[:0]\n"}},
		By:       coreTests("internal/core", "TestAnIdentityThatWasGivenUp"),
	},
	{
		Name: "grace-without-end", What: "a stop waits for an answer for as long as it takes",
		Evidence: "as before",
		Patches:  []Patch{{"internal/core/stop.go", "	c.graceEnd = now + c.options.Grace\n", "	c.graceEnd = now + 1000*c.options.Grace\n"}},
		By:       coreTests("internal/core", "TestAStopEnds"),
	},
	{
		Name: "house-kept-by-an-old-lease", What: "a relay that begins again keeps house by the lease of the identity that it had",
		Evidence: "past leaders that think they keep winning (River)",
		Patches:  []Patch{{"internal/core/heartbeat.go", "		u.held = false\n", "		u.next = now\n"}},
		By:       coreTests("internal/core", "TestNoHouseIsKept"),
	},
	{
		Name: "lease-trusted-to-its-end", What: "a lease is taken as good until its very end, counted from the answer",
		Evidence: "leases that are renewed by a timer and looked at by nobody (golang/go#24595; CAP#1682)",
		Patches:  []Patch{{"internal/core/view.go", "		f.Engine.Expire(b.sent + c.options.TTL*4/5)", "		f.Engine.Expire(now + c.options.TTL)"}},
		By:       coreTests("internal/core", "TestNothingIsSentWhenMost"),
	},
	{
		Name: "stale-answer-taken", What: "the answer to a turn that began before all was dropped is taken",
		Evidence: "as before",
		Patches:  []Patch{{"internal/core/turn.go", "	if r.Generation != c.generation {\n		return false\n	}\n	if fault", "	if fault"}},
		By:       coreTests("internal/core", "TestTheAnswerToATurn"),
	},
}
