package mutants

// Mistakes in finding what was committed, on real stores. The simulator knows most of them from its models.
var reading = []Mutant{
	{
		Name: "postgresql-seq-is-the-cursor", What: "PostgreSQL: a window begins at the highest seq that was seen",
		Evidence: "watermill#311, SQLStreamStore#121; measured: 23 to 26 % lost",
		Patches:  []Patch{{"store/sqlkit/snapshots/position.go", "	p.To, p.Top = &to, top\n	return from", "	p.To, p.Top = &to, top\n	return max(from, p.High)"}, {"store/pgstore/query/read.sql", "(SELECT least(min(u.low), $4::bigint) FROM", "(SELECT greatest(max(u.low), $4::bigint) FROM"}},
		By:       tests("store/pgstore", "TestConformance/(A_commit_below|Of_two_writers|Four_writers)"),
	},
	{
		Name: "postgresql-time-is-the-cursor", What: "PostgreSQL: a read goes on from the time of the last row that was read",
		Evidence: "Aiven-Open/jdbc-connector#54; measured: 29 % lost",
		Patches:  []Patch{{"store/pgstore/query/read.sql", "AND (b.xid >= $1::xid8 AND b.seq > $4::bigint OR {ran})\n\n-- name: page\n", "AND (b.xid >= $1::xid8 AND b.seq > $4::bigint OR {ran})\nAND b.at > coalesce((SELECT max(o.at) FROM postbag.{box} o WHERE o.xid < $1::xid8 AND o.xid <> ALL ($2::xid8[])), '-infinity')\n\n-- name: page\n"}},
		By:       tests("store/pgstore", "TestConformance/(A_commit_below|Of_two_writers|Four_writers)"),
	},
	{
		Name: "postgresql-bound-read-before-the-snapshot", What: "PostgreSQL: the low bound of new transactions is the last seq that was read at the snapshot",
		Evidence: "measured: 0.8 to 1.4 % lost",
		Patches:  []Patch{{"store/sqlkit/snapshots/position.go", "	known.Raise(&to, p)\n", "	known.Raise(&to, p)\n	to.Beyond = max(to.Beyond, top)\n"}},
		By:       tests("store/pgstore", "TestConformance/(A_commit_below|Of_two_writers|Four_writers)"),
	},
	{
		Name: "postgresql-late-rows-forgotten", What: "PostgreSQL: the end of a window forgets the transactions that ran in its snapshot",
		Evidence: "a high-water mark of ids",
		Patches:  []Patch{{"store/sqlkit/snapshots/position.go", "return Position{Life: p.Life, Done: p.To,", "return Position{Life: p.Life, Done: &Snapshot{XMax: p.To.XMax, Beyond: p.To.Beyond},"}},
		By:       tests("store/pgstore", "TestConformance/(A_commit_below|Of_two_writers|Four_writers)"),
	},
	{
		Name: "mysql-time-is-the-cursor", What: "MySQL and MariaDB: a read goes on from the time of the last row that was read",
		Evidence: "Aiven-Open/jdbc-connector#54; measured: 29 % lost",
		Patches:  []Patch{{"store/mysqlstore/turn_condition.go", "func (w *reading) rowsText(condition string) string {\n", "func (w *reading) rowsText(condition string) string {\n	condition = fmt.Sprintf(\"(%s) AND at > (SELECT COALESCE(MAX(o.at), 0) FROM %s o WHERE o.seq <= %d)\", condition, tableOf(w.about.Box), w.from.high)\n"}},
		By:       tests("store/mysqlstore", "TestConformance/MariaDB/(A_commit_below|Of_two_writers|Four_writers)"),
	},
	{
		Name: "mysql-gap-skipped-after-a-time-out", What: "MySQL and MariaDB: a seq that is missing for longer than the grace counts as rolled back, without proof",
		Evidence: "Eventuous#424 skips after 5 s; tw-tkms#69",
		Patches:  []Patch{{"store/mysqlstore/turn_batch.go", "	open := b.w.from.open.from(b.w.swept + 1)\n	p.open", "	open := b.w.from.open.from(b.w.swept + 1)\n	open = open.minus(b.w.s.unknowns.old(time.Now(), b.w.s.grace)[b.w.about.Box])\n	p.open"}, {"store/mysqlstore/turn_batch.go", "	\"slices\"\n", "	\"slices\"\n	\"time\"\n"}},
		By:       tests("store/mysqlstore", "TestAProducerSlowerThanTheGracePeriodIsDelivered/MariaDB"),
	},
	{
		Name: "mysql-open-seqs-read-before-the-page", What: "MySQL and MariaDB: what was open is looked for before the page is read",
		Evidence: "a second message of a key is on the page, its first came in between",
		Patches: []Patch{
			{"store/mysqlstore/turn_read.go", "		add(w.pageText(), int64(w.scan))\n		if condition", "		if condition"},
			{"store/mysqlstore/turn_read.go", "			add(w.rowsText(condition), int64(w.lateLimit()))\n		}\n", "			add(w.rowsText(condition), int64(w.lateLimit()))\n		}\n		add(w.pageText(), int64(w.scan))\n"},
			{"store/mysqlstore/turn_read.go", "	if w.asked {\n		if err := results.next(); err != nil {\n			return err\n		}\n		if w.page, cut, err", "	early := w.lateAsked\n	if early && w.asked {\n		if err := results.next(); err != nil {\n			return err\n		}\n		if w.late, _, err = w.takeRows(rows, w.lateLimit()); err != nil {\n			return err\n		}\n		w.lateAsked = false\n	}\n	if w.asked {\n		if err := results.next(); err != nil {\n			return err\n		}\n		if w.page, cut, err"},
		},
		By: tests("store/mysqlstore", "TestConformance/MariaDB/A_transaction_that_commits_while"),
	},
}

// Locks and waits that producers notice.
var blocking = []Mutant{
	{
		Name: "postgresql-partition-detached-with-a-lock", What: "PostgreSQL: a partition is taken out of the log with a lock that excludes everybody",
		Evidence: "DDL that waits behind a long transaction, and all writers behind it (FAULTS D24)",
		Patches:  []Patch{{"store/pgstore/query/maintain.sql", "DETACH PARTITION postbag.{part} CONCURRENTLY;", "DETACH PARTITION postbag.{part};"}},
		By:       tests("store/pgstore", "(TestADetachCancelledByAnOperatorIsFinishedAndTheTableKept|TestADetachThatTimesOutIsFinishedLater)|TestConformance/An_open_transaction_holds"),
	},
	{
		Name: "postgresql-ddl-waits-without-bound", What: "PostgreSQL: DDL waits for its locks as long as it takes, and producers behind it",
		Evidence: "DDL that waits behind a long transaction, and all writers behind it (FAULTS D24)",
		Patches:  []Patch{{"store/pgstore/maintain_headroom.go", "	briefly = \"200ms\"", "	briefly = \"0\""}},
		By:       tests("store/pgstore", "(TestADetachCancelledByAnOperatorIsFinishedAndTheTableKept|TestADetachThatTimesOutIsFinishedLater)|TestConformance/An_open_transaction_holds"),
	},
	{
		Name: "mysql-drop-waits-without-bound", What: "MySQL and MariaDB: a partition's drop waits for its lock as long as it takes, and producers behind it",
		Evidence: "DDL that waits behind a long transaction, and all writers behind it (FAULTS D24)",
		Patches:  []Patch{{"store/mysqlstore/migrate.go", "int(wait/time.Second))\n", "int(wait/time.Second)*3600)\n"}},
		By:       tests("store/mysqlstore", "TestADropThatWaitsForAnOpenTransactionGivesUpSoon/MariaDB"),
	},
	{
		Name: "mysql-schedule-reads-the-box", What: "MySQL and MariaDB: who schedules a message looks for the box's row, which relays lock",
		Evidence: "INSERT ... SELECT locks what it reads in REPEATABLE READ: the fault harness saw producers wait a second, and relays for producers",
		Patches: []Patch{{
			"store/mysqlstore/sql.go", "SELECT '%[2]s', x.* FROM (%[1]s) x WHERE NOT EXISTS (SELECT 1 FROM %[3]s WHERE FALSE) ORDER BY 2",
			"SELECT b.name, x.* FROM (%[1]s) x JOIN postbag__box b ON b.name = '%[2]s' ORDER BY 2",
		}},
		By: tests("store/mysqlstore", "TestAProducerOfScheduledMessagesAnd"),
	},
	{
		Name: "mysql-sweep-looks-behind-its-end", What: "MySQL and MariaDB: what all have passed is deleted by its range, whose end the server looks behind",
		Evidence: "found by a case of the conformance suite: retention waited for every transaction that was open at its edge",
		Patches:  []Patch{{"store/mysqlstore/sql.go", "DELETE FROM %s WHERE seq > ? AND seq < ? AND (slot", "DELETE FROM %s WHERE seq > ? AND seq <= ? AND (slot"}},
		By:       tests("store/mysqlstore", "TestConformance/MariaDB/An_open_transaction_holds"),
	},
}
