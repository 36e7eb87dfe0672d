package mutants

// Mistakes with lanes whose effects are in a database: pages of a handler, their records, and positions of sources.
var pages = []Mutant{
	{
		Name: "page-record-before-its-effects", What: "the record of a page is committed in a transaction of its own, before the effects",
		Evidence: "offsets that are committed before their effects: what the process had in hand is lost",
		Patches: []Patch{{
			"inbox/batch_page.go", "		if err := p.d.lanes.WriteLane(ctx, tx, p.lane.key, p.lane.epoch, p.record); err != nil {\n",
			"		if err := p.d.one.tx.InTx(ctx, func(ctx context.Context, own Tx) error {\n			return p.d.lanes.WriteLane(ctx, own, p.lane.key, p.lane.epoch, p.record)\n		}); err != nil {\n",
		}},
		By: coreTests("inbox", "TestAHandlerOfPagesConformsAsADestination|TestAZombiesPageIsKnownOrFenced"),
	},
	{
		Name: "page-commits-without-what-failed", What: "a page commits although a message of it failed",
		Evidence: "batches whose errors are logged: docs/design/081-batched-effects.md",
		Patches:  []Patch{{"inbox/batch_page.go", "	if p.failed > 0 {\n		return errFailed\n	}\n", ""}},
		By:       coreTests("inbox", "TestAMessageOfFiveHundredThatFailsIsRejectedAloneAndTheOthersStand"),
	},
	{
		Name: "page-goes-on-behind-a-failed-message", What: "the messages behind one that failed are applied, those of its key too",
		Evidence: "consumers that skip what fails, and turn a key's sequence around",
		Patches:  []Patch{{"inbox/batch_page.go", "		failed[p.msgs[kept[0]].Key] = true\n", ""}},
		By:       coreTests("inbox", "TestAllMessagesThatFailAreFoundInOnePageAndNoneBehindThemOfTheirKeysIsTried"),
	},
	{
		Name: "page-rolled-back-by-the-server-commits", What: "nobody looks before the commit whether the transaction still has its record",
		Evidence: "InnoDB rolls a transaction back at a deadlock, and takes the next statements as a new one",
		Patches:  []Patch{{"inbox/batch_page.go", "has && err == nil {\n", "has && err != nil {\n"}},
		By:       coreTests("inbox", "TestAPageThatTheDatabaseRolledBackInTheMiddleRunsAgain"),
	},
	{
		Name: "page-lost-commit-taken-as-aborted", What: "a page whose commit had no answer counts as rolled back",
		Evidence: "time-outs taken as failures (FAULTS C2): the page is applied twice",
		Patches:  []Patch{{"inbox/batch_lane.go", "			return broker.Unresolved, fmt.Errorf(\"inbox: handle: %w\", err)\n", "			return p.unavailable(err)\n"}},
		By:       coreTests("inbox", "TestAHandlerOfPagesConformsAsADestination"),
	},
	{
		Name: "page-outage-rejects-a-message", What: "an error of a handler while its database is away counts against its message",
		Evidence: "Agendia#322: an outage dead-letters its whole window",
		Patches:  []Patch{{"inbox/batch_lane.go", "	if down := p.d.one.Probe(ctx); down != nil {\n", "	if down := p.d.one.Probe(ctx); down != nil && !p.began {\n"}},
		By:       coreTests("inbox", "TestAnOutageWithinAPageIsNoFaultOfAMessage|TestAnOutageWhileItIsFoundOutWhichMessagesFailIsNoFaultOfOne"),
	},
	{
		Name: "page-records-of-a-consumer-are-one", What: "all lanes of a consumer write one record",
		Evidence: "positions of one partition that replace those of another",
		Patches:  []Patch{{"inbox/batch.go", "	key := d.one.o.Consumer + \"/\" + name.String()\n", "	key := d.one.o.Consumer + \"/\" + name.Lane\n"}},
		By:       coreTests("inbox", "TestEachConsumerBoxAndSubscriptionHasARecordOfItsOwn"),
	},
	{
		Name: "page-records-of-consumers-are-one", What: "two consumers of one box write one record",
		Evidence: "positions of one partition that replace those of another",
		Patches:  []Patch{{"inbox/batch.go", "	key := d.one.o.Consumer + \"/\" + name.String()\n", "	key := \"/\" + name.String()\n"}},
		By:       coreTests("inbox", "TestEachConsumerBoxAndSubscriptionHasARecordOfItsOwn"),
	},
	{
		Name: "page-record-not-given-to-the-relay", What: "the relay does not give what the record names to who decides what is sent",
		Evidence: "a position that is committed beside the messages and never looked at",
		Patches:  []Patch{{"relay/exactly_transaction.go", "				do = c.Opened(w.lane.Record(), true)\n", "				do = c.Opened(nil, true)\n"}},
		By:       coreTests("relay", "TestAParkedMessageArrivesOnceThoughItsRelayEndsBeforeItIsSettled"),
	},
	{
		Name: "page-sends-what-its-record-names", What: "the relay sends the whole call, also what the record of the last owner names",
		Evidence: "at-least-once inside of transactions",
		Patches:  []Patch{{"relay/exactly_transaction.go", "	w.at = w.course.Sends()\n", "	w.at = nil\n	for i := range w.room.msgs {\n		w.at = append(w.at, i)\n	}\n"}},
		By:       coreTests("relay", "TestAParkedMessageArrivesOnceThoughItsRelayEndsBeforeItIsSettled"),
	},
	{
		Name: "position-of-a-zombie-taken", What: "a position that was not written, since another one has opened it, counts as kept",
		Evidence: "consumers that outlive a rebalance",
		Patches:  []Patch{{"inbox/positions.go", "	case errors.Is(err, store.ErrFenced):\n		return false, nil\n", "	case errors.Is(err, store.ErrFenced):\n		return true, nil\n"}},
		By:       coreTests("inbox", "TestAPositionIsKeptByWhoOpenedItLastAndByNobodyElse"),
	},
	{
		Name: "lane-in-memory-opened-without-waiting", What: "memstore: a lane is opened while a transaction that wrote it is open",
		Evidence: "a successor that reads the record, and the predecessor's commit that comes after it",
		Patches:  []Patch{{"store/memstore/lanes.go", "	if r.writer != nil && r.writer != tx {\n", "	if r.writer != nil && r.writer != tx && tx.waitsFor != nil {\n"}},
		By:       coreTests("store/memstore", "TestConformance$/(Opening_a_lane_waits|A_write_that_waits)"),
	},
	{
		Name: "lane-epochs-counted-sqlite", What: "SQLite: the epoch of a lane is the one before plus one",
		Evidence: "after a restore of the database epochs came again, and a relay that was frozen since before it was not fenced",
		Patches:  []Patch{{"store/sqlitestore/sql.go", "DO UPDATE SET epoch = ?2 RETURNING", "DO UPDATE SET epoch = epoch + 1 RETURNING"}},
		By:       tests("store/sqlitestore", "TestALaneWhoseTableWasRestoredGivesNoEpochOutAgain"),
	},
	{
		Name: "lane-of-a-zombie-written-sqlite", What: "SQLite: the record of a lane can be written by each process that opened it once",
		Evidence: "a process that was frozen, and goes on",
		Patches:  []Patch{{"store/sqlitestore/sql.go", "WHERE lane = ?1 AND epoch = ?2 RETURNING epoch`", "WHERE lane = ?1 AND epoch > 0 * ?2 RETURNING epoch`"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/(Who_opened_a_lane|A_write_that_waits|An_epoch)"),
	},
	{
		Name: "lane-epochs-counted-postgresql", What: "PostgreSQL: the epoch of a lane is the one before plus one",
		Evidence: "after a restore of the database epochs came again, and a relay that was frozen since before it was not fenced",
		Patches:  []Patch{{"store/pgstore/query/lanes.sql", "SET epoch = excluded.epoch\n", "SET epoch = _lanes.epoch OPERATOR(pg_catalog.+) 1\n"}},
		By:       tests("store/pgstore", "TestALaneWhoseTableWasRestoredGivesNoEpochOutAgain"),
	},
	{
		Name: "lane-write-of-no-row-taken-postgresql", What: "PostgreSQL: nobody looks whether the record of a lane was written",
		Evidence: "statements whose number of rows is ignored: a zombie applies its page",
		Patches:  []Patch{{"store/pgstore/lanes.go", "	if err == nil && n == 0 {\n", "	if err == nil && n < 0 {\n"}},
		By:       tests("store/pgstore", "TestConformance$/(Who_opened_a_lane|A_write_that_waits)"),
	},
	{
		Name: "lane-deferred-constraints-not-looked-at-postgresql", What: "PostgreSQL: a constraint that waits for the commit is not looked at behind each message",
		Evidence: "the commit fails, and no message is named: the page is tried for ever",
		Patches:  []Patch{{"store/pgstore/lanes.go", "	if failed = fn(ctx); failed == nil {\n", "	if failed = fn(ctx); failed == nil && ctx.Err() != nil {\n"}},
		By:       tests("store/pgstore", "TestABrokenConstraintThatWaitsForTheCommitIsFoundBehindTheMessageThatBrokeIt"),
	},
	{
		Name: "lane-look-leaves-constraints-immediate-postgresql", What: "PostgreSQL: after the look at constraints they do not wait for the commit any more",
		Evidence: "a handler that breaks a constraint for a moment, as it may, fails from its second message on",
		Patches:  []Patch{{"store/pgstore/lanes.go", "[]string{setLook, lookNow, undoLook, releaseLook}", "[]string{setLook, lookNow, releaseLook}"}},
		By:       tests("store/pgstore", "TestABrokenConstraintThatWaitsForTheCommitIsFoundBehindTheMessageThatBrokeIt"),
	},
	{
		Name: "lane-kept-by-its-row-alone-mysql", What: "MySQL, MariaDB: a transaction that the server rolled back counts as whole if the lane has a row",
		Evidence: "InnoDB rolls a transaction back at a deadlock, and takes the next statements as a new one",
		Patches:  []Patch{{"store/mysqlstore/lanes.go", "	case !there || now.Epoch != epoch || !bytes.Equal(now.Record, record):\n", "	case !there || now.Epoch != epoch && !bytes.Equal(now.Record, record):\n"}},
		By:       tests("store/mysqlstore", "TestATransactionThatTheServerRolledBackDoesNotKeepItsLane"),
	},
}
