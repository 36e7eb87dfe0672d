package mutants

// Mistakes in superseding: what waits for a newer message of its key, and what ends it.
var superseding = []Mutant{
	{
		Name: "superseded-by-a-rejected-one", What: "a message that waits ends as soon as a newer one of its key was tried, whatever came of that",
		Evidence: "latest_available of a peer's retry chain, which drops the older message before the newer one is sent",
		Patches:  []Patch{{"internal/engine/turn_settle.go", "if e.fate == store.TallyDelivered {\n		e.shard.nameNewer", "if e.fate != store.TallyFiltered {\n		e.shard.nameNewer"}},
		By:       sim("-faults", "supersede,rejects"), Quick: true,
	},
	{
		Name: "waiting-forgotten-at-a-takeover", What: "the new owner of a shard does not know which keys have messages that wait, and delivers newer ones without ending those",
		Evidence: "state in memory that a restart forgets",
		Patches:  []Patch{{"internal/engine/shard.go", "			s.waitsIn(h.Hash, h.Seq)\n", ""}},
		By:       sim("-faults", "supersede,rejects,kills,stops"),
	},
	{
		Name: "newer-sent-before-the-rejection-is-settled", What: "a newer message goes out while only memory knows that the one before it waits",
		Evidence: "seed 2782 of the simulator, when superseding was new",
		Patches:  []Patch{{"internal/engine/lot_supersede.go", "	return f.waits(p) || f.supersedes() && p.State == store.ParkDead && !p.Blocking && p.Hash > strictHash", "	return false"}},
		By:       sim("-faults", "supersede,rejects,kills,crashes"),
	},
	{
		Name: "retried-before-the-log-is-read", What: "a new owner tries a message that waits, though the owner before may have delivered a newer one without settling it",
		Evidence: "retry tables that are polled beside the outbox",
		Patches:  []Patch{{"internal/engine/lot_supersede.go", "(c.head != nil || c.out > 0), !s.caughtUp():", "(c.head != nil || c.out > 0):"}},
		By:       sim("-faults", "supersede,rejects,kills"),
	},
	{
		Name: "retried-beside-a-newer-one", What: "a message that waits is taken in hand as it is under skip, beside newer ones of its key, and without a row that blocks them",
		Evidence: "retries in a goroutine of their own",
		Patches:  []Patch{{"internal/engine/lot_due.go", "		case f.waits(&m.Park):\n", "		case false:\n"}},
		By:       sim("-faults", "supersede,rejects,kills"),
	},
	{
		Name: "delivered-and-forgotten", What: "a message that was delivered, and whose settlement waits for others, does not keep older ones of its key from being tried",
		Evidence: "checks against what is stored alone",
		Patches:  []Patch{{"internal/engine/lot_supersede.go", "if w := s.waiting[e.Hash]; w != nil && e.Seq > w.passed {\n		w.passed, w.settled = e.Seq, false", "if w := s.waiting[e.Hash]; w != nil && e.Seq > w.passed {\n		w.settled = w.passed == 0"}},
		By:       coreTests("internal/engine", "TestAMessageThatWaitsIsNotTriedWhileANewerOneIsInHandOrDelivered"),
	},
	{
		Name: "every-one-that-waits-is-tried", What: "of several messages of a key that wait the older ones are tried, too",
		Evidence: "compacted_log of a peer's retry chain, without the compaction",
		Patches:  []Patch{{"internal/engine/lot_supersede.go", "p.Seq < w.newest && !f.tooOld(e, now):", "false:"}},
		By:       coreTests("internal/engine", "TestOfSeveralThatWaitOnlyTheNewestIsTried"),
	},
	{
		Name: "the-next-never-asked-for", What: "when the newest message that waits is dead, the older ones wait for it for ever",
		Evidence: "a cached maximum that nobody takes back",
		Patches:  []Patch{{"internal/engine/lot_park.go", "		e.shard.askNewest(p.Hash, p.Seq)\n", ""}},
		By:       sim("-faults", "supersede,rejects"),
	},
	{
		Name: "suspects-let-their-key-go-on", What: "a message whose handler's process is gone waits while newer ones go on, though the handler may be at work yet",
		Evidence: "seed 103 of the simulator with handlers, when superseding was new",
		Patches:  []Patch{{"internal/engine/call_count.go", "		p.Blocking = p.Blocking || f.supersedes() // its handler may be at work yet\n", ""}},
		By:       sim("-handlers", "-faults", "supersede,rejects,kills,pauses,stops,breakers,lost-answers"),
	},
	{
		Name: "a-gone-row-written-again", What: "an answer that was under way shows a row that has ended since, and it is parked once more",
		Evidence: "answers that overtake one another",
		Patches: []Patch{
			{"internal/engine/lot_due.go", "	if s.asked {\n		return\n	}\n	s.endWaiting()\n", "	s.endWaiting()\n	if s.asked {\n		return\n	}\n"},
		},
		By: coreTests("internal/engine", "TestARowThatIsGoneIsNotTakenFromAnAnswerOfBefore"),
	},
	{
		Name: "discarded-and-superseded", What: "a discard is carried out on a message that a settlement is about to supersede, and the ledger counts it twice",
		Evidence: "two writers of one counter",
		Patches:  []Patch{{"internal/engine/lot_command.go", " || f.waits(&c.Park) && s.overtakenBy(c.Park.Hash, seq) ||", " ||"}},
		By:       coreTests("internal/engine", "TestACommandForAMessageThatIsOvertakenWaits"),
	},
	{
		Name: "superseding-not-in-the-ledger", What: "a message that is superseded stays parked in the ledger",
		Evidence: "a DELETE without its counter",
		Patches:  []Patch{{"store/memstore/turn_supersede.go", "	sub.tallies[superseded] = sub.tallies[superseded].add(sum)\n", "	_ = superseded\n"}},
		By:       coreTests("store/memstore", "TestConformance$/The_ledger_has_superseded_messages_under_a_fate_of_their_own"),
	},
	{
		Name: "dead-ones-superseded", What: "messages that are dead end with those that wait",
		Evidence: "DELETE by key alone",
		Patches:  []Patch{{"store/memstore/turn_supersede.go", "	return p.park.State == store.ParkRetrying && !p.park.Blocking && p.park.Hash != 0", "	return !p.park.Blocking && p.park.Hash != 0"}},
		By:       coreTests("store/memstore", "TestConformance$/Only_what_waits_and_is_older_is_superseded"),
	},
	{
		Name: "superseding-without-a-bound", What: "a settlement ends all rows that wait for it, in one transaction",
		Evidence: "this project, until a review",
		Patches:  []Patch{{"store/memstore/turn_supersede.go", "			case n == most:\n", "			case n < 0:\n"}},
		By:       coreTests("store/memstore", "TestConformance$/A_settlement_supersedes_a_bounded_number"), Quick: true,
	},
	{
		Name: "superseding-stops-at-the-bound", What: "a settlement ends as many rows as one may, and its position passes, whatever is left over",
		Evidence: "DELETE with a LIMIT, once",
		Patches:  []Patch{{"proof/simulation/server.go", "	if more {\n		return store.Verdict{More: true, Superseded: n}\n	}\n", "	_ = more\n"}, {"proof/simulation/judge_supersede.go", "	n, _ := s.supersede(sh, t, math.MaxInt,", "	n, _ := s.supersede(sh, t, min(1, math.MaxInt),"}},
		By:       sim("-faults", "supersede,rejects,kills,stops"),
	},
	{
		Name: "parts-end-what-the-settlement-writes", What: "the first part of a settlement ends a row that the settlement writes, and the ledger counts it twice",
		Evidence: "two writers of one counter",
		Patches:  []Patch{{"store/storekit/done.go", "		out[s.Park[i].Seq] = true\n", "		_ = i\n"}},
		By:       coreTests("store/memstore", "TestConformance$/What_a_settlement_writes_itself"),
	},
	{
		Name: "what-is-left-over-is-dropped", What: "a settlement of which the store has made a part is not made again",
		Evidence: "answers that are taken for the last",
		Patches:  []Patch{{"internal/engine/turn_settle.go", "		f.stats.Superseded += v.Superseded\n		return\n", "		f.stats.Superseded += v.Superseded\n		f.out -= s.turnSent\n		s.turn, s.turnSent = nil, 0\n		return\n"}},
		By:       sim("-faults", "supersede,rejects,kills,stops"),
	},
}
