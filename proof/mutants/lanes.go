package mutants

// Mistakes in the lane of exactly once.
var lanes = []Mutant{
	{
		Name: "lane-record-not-read", What: "who opens a lane does not read what the last transaction of it stored",
		Evidence: "a position that is committed beside the messages and never looked at: docs/design/030-exactly-once.md",
		Patches:  []Patch{{"internal/lane/acquisition.go", "e.Held, e.found = true, record", "e.Held, e.found = true, nil"}},
		By:       sim(), Quick: true,
	},
	{
		Name: "lane-opened-without-a-second-look", What: "who opened a lane does not ask whether the leases are still its own",
		Evidence: "a process that slept between its lease and its epoch fences the owner, and commits",
		Patches:  []Patch{{"internal/lane/acquisition.go", "	return Ask // who takes the leases after this answer opens the lane after us\n", "	return e.learn()\n"}},
		By:       tests("./internal/lane", "TestLeasesAreCheckedAgainAfterALaneWasOpened"),
	},
	{
		Name: "lane-record-not-carried", What: "what a predecessor delivered is known and not written into a record of one's own",
		Evidence: "the second crash in a row: the first settlement makes the old record's versions say that all of it is settled",
		Patches:  []Patch{{"internal/lane/acquisition.go", "	if !carry {", "	if carry = false; !carry {"}},
		By:       sim(),
	},
	{
		Name: "lane-record-without-versions", What: "a record counts as settled when its shard has the version that it names",
		Evidence: "off by one in the comparison of versions",
		Patches:  []Patch{{"internal/lane/record.go", "l.Version > s.version {", "l.Version >= s.version {"}},
		By:       sim(),
	},
	{
		Name: "known-messages-sent-again", What: "a transaction sends what is known to be in the broker",
		Evidence: "at-least-once inside of transactions",
		Patches:  []Patch{{"internal/lane/transaction.go", "return !t.Known.Has(t.items[i]) }", "return !t.Known.Has(t.items[i]) || i >= 0 }"}},
		By:       sim(),
	},
	{
		Name: "lost-commit-taken-as-committed", What: "a transaction whose answer is lost counts as committed",
		Evidence: "franz-go#1217: success for records that are not in the log",
		Patches:  []Patch{{"internal/lane/transaction.go", "	case t.Holds(t.encoded):\n", "	case t.encoded != nil:\n"}},
		By:       sim(),
	},
	{
		Name: "lane-not-fenced", What: "a broker lets everybody commit who ever opened the lane",
		Evidence: "transactional ids that are drawn by each process for itself: nobody fences a zombie",
		Patches:  []Patch{{"proof/simulation/broker_lanes.go", "return t.held.epoch != b.lanes.epoch }", "return t.held.epoch > b.lanes.epoch }"}},
		By:       sim(),
	},
	{
		Name: "settled-while-a-transaction-is-out", What: "a settlement is made while a transaction is out, so versions say nothing of it",
		Evidence: "a position written beside the transaction that it belongs to",
		Patches:  []Patch{{"internal/engine/call_transaction.go", "return f.cfg.Transactions && len(f.calls) > 0 }", "return f.cfg.Transactions && len(f.calls) > 1 }"}},
		By:       sim(),
	},
}

// Mistakes with transactions that outlive the server, and with what keeps repeats out
// of brokers.
var outliving = []Mutant{
	{
		Name: "prepared-transaction-taken-as-rolled-back", What: "what was open when the server crashed counts as rolled back, prepared transactions too",
		Evidence: "PREPARE TRANSACTION: its id is in the lists of the new life's snapshots, until somebody commits it",
		Patches:  []Patch{{"proof/simulation/server_log_snapshot.go", "	p.Life = r.v.life\n", "	if p.Done != nil && p.Life != r.v.life {\n		done := *p.Done\n		done.Running = nil\n		p.Done = &done\n	}\n	p.Life = r.v.life\n"}},
		By:       sim("-store", "snapshots"),
	},
	{
		Name: "open-seqs-forgotten-at-a-restart", What: "seqs that were open when the server crashed count as rolled back",
		Evidence: "XA PREPARE: the row comes with XA COMMIT, in another life of the server",
		Patches:  []Patch{{"proof/simulation/server_log_range.go", "	r.from.life = v.life\n", "	if r.from.life != v.life {\n		r.from.open = nil\n	}\n	r.from.life = v.life\n"}},
		By:       sim("-store", "ranges"),
	},
	{
		Name: "numbers-trusted-in-a-new-epoch", What: "a producer whose call was given up sends it again in its next epoch and trusts the broker to know it",
		Evidence: "Kafka KIP-360: sequence numbers tell repeats within one epoch of a producer only",
		Patches:  []Patch{{"proof/simulation/relay_publishing.go", "	lost := 0\n", "	if w := d.r.w; w.plan.sequences && d.epoch == d.r.producer.epoch {\n		d.r.producer = producer{epoch: d.epoch + 1}\n		d.r.numbered(d)\n		d.arrived = false\n		w.schedule(w.lag(), nil, d, callArrives)\n		w.schedule(d.r.own(w.plan.timeout), d.r, d, callGivenUp)\n		return\n	}\n	lost := 0\n"}},
		By:       sim("-mode", "liveness", "-faults", "sequences,slow-answers"),
	},
	{
		Name: "growing-ids-without-the-life-of-the-database", What: "the ids of a stream are made of seqs alone",
		Evidence: "a promoted standby hands out a seq twice: the second message of that id is refused for ever",
		Patches:  []Patch{{"proof/simulation/relay_publishing.go", "	d.life = r.core.Life()\n", "	d.life = 1\n"}},
		By:       sim(),
	},
}
