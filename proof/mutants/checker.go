package mutants

// judged are the tests that show each verdict of the checker to be right, and to see what breaks it.
var judged = proofTests("history", "TestEachValidatorTellsBrokenFromKeptPromises|TestRandomHistories|TestAHistoryThatKeepsEveryPromiseIsReportedSo")

// Mistakes in the checker itself: a judge that does not see what it is there for.
var judging = []Mutant{
	{
		Name: "checker-blind-to-loss", What: "the checker: a message that is nowhere is not lost",
		Evidence: "suites that stay green while a quarter is lost (watermill#311)",
		Patches:  []Patch{{"proof/history/message.go", "		g.lost(\"committed and not delivered\", nil)\n", ""}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-what-waits", What: "the checker: what still waits when all is at rest is no breach",
		Evidence: "silent backlogs (wolverine#3954)",
		Patches:  []Patch{{"proof/history/message.go", "	if s.State != Pending {\n", "	if s.State != Absent {\n"}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-phantoms", What: "the checker: a delivery of a transaction that rolled back is no breach",
		Evidence: "verdicts that count and do not judge",
		Patches:  []Patch{{"proof/history/message.go", "		g.breach(Phantom, \"delivered, and its transaction rolled back\", &g.first)\n", ""}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-ghosts", What: "the checker: what the store holds of a transaction that rolled back is no breach",
		Evidence: "as before",
		Patches:  []Patch{{"proof/history/message.go", "		if g.held {\n			g.ghost()\n		}\n", ""}},
		By:       judged,
	},
	{
		Name: "checker-unknown-commits-lost", What: "the checker: a message of a commit without an answer is lost if it does not arrive",
		Evidence: "two-valued outcomes: Jepsen has three",
		Patches:  []Patch{{"proof/history/message.go", "	case g.message.Fate == Unknown && !g.held:\n		return p, false\n", ""}},
		By:       judged,
	},
	{
		Name: "checker-compares-neighbours", What: "the checker: a message is compared with the last that was committed before it, not with the furthest",
		Evidence: "an inversion over a distance is not seen",
		Patches:  []Patch{{"proof/history/sweep.go", "				if m.first.Position > f.m.first.Position {\n					f.m = m\n				}\n", "				f.m = m\n"}},
		By:       judged,
	},
	{
		Name: "checker-orders-what-overlaps", What: "the checker: transactions that overlap are ordered by when they began",
		Evidence: "only what was committed before another began is ordered",
		Patches:  []Patch{{"proof/history/sweep.go", "s.open[0].CommitEnd < m.Begin {", "s.open[0].Begin < m.Begin {"}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-gone-on", What: "the checker: a key may go on behind a message that waits",
		Evidence: "38 % of modelled runs invert so",
		Patches:  []Patch{{"proof/history/sweep.go", "	if p.waiting != nil {\n", "	if p.waiting == m {\n"}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-spread-keys", What: "the checker: a key may lie in two places",
		Evidence: "a partitioner that changed (FAULTS C8)",
		Patches:  []Patch{{"proof/history/sweep.go", "		if one.m.first.Place != m.first.Place {", "		if one.m == m {"}},
		By:       judged,
	},
	{
		Name: "checker-any-fault-explains", What: "the checker: any fault before a duplicate explains it, however long ago",
		Evidence: "duplicates waved through",
		Patches:  []Patch{{"proof/history/windows.go", "	if begun == 0 || w.latest[begun-1] < from {", "	if begun == 0 {"}},
		By:       judged,
	},
	{
		Name: "checker-duplicates-not-summed", What: "the checker: a fault explains any number of duplicates",
		Evidence: "batches that are repeated whole (FAULTS C1)",
		Patches:  []Patch{{"proof/history/judge.go", "		over := s.duplicates - s.most\n", "		over := min(s.duplicates-s.most, 0)\n"}, {"proof/history/judge.go", "	if over := c[repeated] - w.most(); v.Broken < over {", "	if over := c[repeated] - w.most(); v.Broken < over && over < 0 {"}},
		By:       judged,
	},
	{
		Name: "checker-exactly-once-explained", What: "the checker: under exactly once a fault explains a duplicate",
		Evidence: "effectively once, on a good day",
		Patches:  []Patch{{"proof/history/message.go", "	case j.o.ExactlyOnce:\n", "	case j.o.ExactlyOnce && len(j.faults.all) == 0:\n"}, {"proof/history/windows.go", "		if o.ExactlyOnce {\n			f.Window = -1\n		}\n", ""}},
		By:       judged,
	},
	{
		Name: "checker-bytes-not-compared", What: "the checker: payloads are not compared",
		Evidence: "reproduced: jsonb sorts keys and drops duplicates (FAULTS D12)",
		Patches:  []Patch{{"proof/history/message.go", "	} else if m.Payload != d.Payload {", "	} else if m.Payload != m.Payload {"}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-what-comes-early", What: "the checker: a scheduled message may come before it is due",
		Evidence: "as its recorder's clock says",
		Patches:  []Patch{{"proof/history/message.go", "		if j.saw(Schedule); d.To < m.Due {", "		if j.saw(Schedule); d.To < m.Begin {"}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-burned-attempts", What: "the checker: one attempt more than there were refusals is no breach",
		Evidence: "Agendia#322",
		Patches:  []Patch{{"proof/history/message.go", "	if g.attempts <= g.refusals {", "	if g.attempts <= g.refusals+1 {"}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-silence", What: "the checker: if nothing is ever delivered again, no bound was exceeded",
		Evidence: "gaps that have no end are in no list of gaps",
		Patches:  []Patch{{"proof/history/judge.go", "	if took >= 0 && took <= bound {", "	if took <= bound {"}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-open-transactions", What: "the checker: transactions and locks may be held for twice their bound",
		Evidence: "gruelbox#788: one slow send holds a transaction open",
		Patches:  []Patch{{"proof/history/judge.go", "took := j.took(p, w.Begin, w.End, bound); took > bound {", "took := j.took(p, w.Begin, w.End, bound); took > 2*bound {"}},
		By:       judged,
	},
	{
		Name: "checker-one-id-twice", What: "the checker: two messages may have one id",
		Evidence: "records that contradict each other are judged as if they did not",
		Patches:  []Patch{{"proof/history/message.go", "		if e := g.j.breach(Sound); e != nil {\n			e.Why, e.Messages = \"two messages have one id\", []Message{g.message, *m}\n		}\n		return", "		return"}},
		By:       judged,
	},
	{
		Name: "checker-late-fate-wins", What: "the checker: a transaction that both committed and rolled back is the one that was said first",
		Evidence: "as before",
		Patches:  []Patch{{"proof/history/transaction.go", "	case e.Fate != o.Fate:\n		e.both = true\n", ""}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-second-effects", What: "the checker: a message may be applied twice",
		Evidence: "inboxes that commit the effect and the mark apart",
		Patches:  []Patch{{"proof/history/effect.go", "	if n := len(g.effects); n > 1 {\n", "	if n := len(g.effects); n > 2 {\n"}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-missing-effects", What: "the checker: a message without an effect is no breach",
		Evidence: "marks without effects: the message never comes again",
		Patches:  []Patch{{"proof/history/effect.go", "	g.misapplied(\"committed and not applied\")\n", ""}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-effects-of-what-was-undone", What: "the checker: what was rolled back may have an effect",
		Evidence: "destinations that a relay hands what its producer took back",
		Patches:  []Patch{{"proof/history/effect.go", "		g.misapplied(\"applied, and its transaction rolled back\")\n", ""}},
		By:       judged,
	},
	{
		Name: "checker-blind-to-swapped-effects", What: "the checker: effects of a key may stand in any order",
		Evidence: "members that go on with a key before the one before them has committed",
		Patches:  []Patch{{"proof/history/effect.go", "o.Effects == OnceInOrder && m.Key", "o.Effects > OnceInOrder && m.Key"}},
		By:       judged,
	},
}
