package mutants

// The stores' own forms of mistakes that the simulator knows from its models, and mistakes that only databases invite.

// passing are mistakes in what is read and passed.
var passing = []Mutant{
	{
		Name: "postgresql-unfetched-page-passed", What: "PostgreSQL: a page that was cut counts as the whole window",
		Evidence: "cursor advanced past a page that was not fetched",
		Patches:  []Patch{{"store/pgstore/turn_read.go", "		return after, after >= rd.at.Top\n", "		return after, true\n"}},
		By:       tests("store/pgstore", "TestConformance/A_window_is_the_same"),
	},
	{
		Name: "postgresql-position-kept-over-a-crash", What: "PostgreSQL: a position that was read before the server crashed is used after it",
		Evidence: "measured: ids 726 and 727 were given out again and their rows skipped",
		Patches:  []Patch{{"store/pgstore/turn.go", "	if err != nil || p.Life == w.v.era || p.Done == nil", "	if err != nil || p.Life != 0 || p.Done == nil"}},
		By:       tests("store/pgstore", "TestAPositionThatWasOnlyRead"),
	},
	{
		Name: "postgresql-bound-of-a-settlement-that-hit-no-row", What: "PostgreSQL: a settlement that was refused, and so took no id, gives a bound",
		Evidence: "S counts only if the update hit its row",
		Patches: []Patch{
			{"store/pgstore/turn_settle.go", "	if !w.hit {\n		return\n	}\n", ""},
		},
		By: tests("store/pgstore", "TestARefusedSettlementSetsNoBound"),
	},
	{
		Name: "postgresql-moved-database-not-noticed", What: "PostgreSQL: a dump that was restored into another cluster goes on at its old positions",
		Evidence: "watermill-sql#576: stored ids lie above the new cluster's, and nothing is delivered",
		Patches:  []Patch{{"store/pgstore/check.go", "	moved := seen.identity != seen.written\n", "	seen.written = seen.identity\n	moved := seen.identity != seen.written\n"}, {"store/pgstore/server.go", "	if seen.identity != seen.written || old != nil", "	if old != nil"}},
		By:       tests("store/pgstore", "TestARestoredDumpIsRecognisedAsAnotherDatabase"),
	},
	{
		Name: "postgresql-standby-not-refused", What: "PostgreSQL: a relay works on a standby",
		Evidence: "Jepsen on RDS: replicas show commits in another order",
		Patches:  []Patch{{"store/pgstore/server.go", "		case v.recovering:\n", "		case v.recovering && v.number < 0:\n"}, {"store/pgstore/errors.go", "	case standbyRead(err), sqlState(err) == codeReadOnly:\n", "	case standbyRead(err) && doing == \"\":\n"}},
		By:       tests("store/pgstore", "TestAStandbyIsRefused"),
	},
	{
		Name: "postgresql-pooler-not-noticed", What: "PostgreSQL: prepared statements are used behind a pooler that gives each transaction another session",
		Evidence: "river#238, pgx behind PgBouncer",
		Patches:  []Patch{{"store/pgstore/errors.go", "	s.unprepared.Store(true) //", "	s.unprepared.Store(false) //"}},
		By:       tests("store/pgstore", "TestEverythingWorksBehindAPoolerInTransactionMode"),
	},
	{
		Name: "postgresql-sequence-set-back", What: "PostgreSQL: a sequence that was set back below the highest row is not noticed",
		Evidence: "ids that are used again (FAULTS A14, A16)",
		Patches:  []Patch{{"store/pgstore/check.go", "	if last < highest {\n", "	if last < highest && cycles {\n"}},
		By:       tests("store/pgstore", "TestASequenceWithUnsafeOptionsIsRefused"),
	},
	{
		Name: "sqlite-unfetched-page-passed", What: "SQLite: a read towards a position ends there, whether or not its page was cut",
		Evidence: "cursor advanced past a page that was not fetched",
		Patches:  []Patch{{"store/sqlitestore/turn_read.go", "	case r.Until != \"\" && (!p.full || p.last.seq == p.until):\n", "	case r.Until != \"\":\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_(reader|lagging_reader|window)"),
	},
	{
		Name: "sqlite-deferred-transactions", What: "SQLite: transactions that write begin as ones that read",
		Evidence: "SQLITE_BUSY at once where a reader becomes a writer, whatever busy_timeout says (FAULTS D18)",
		Patches:  []Patch{{"store/sqlitestore/sql.go", "	sqlBegin  = `BEGIN IMMEDIATE`", "	sqlBegin  = `BEGIN`"}},
		By:       tests("store/sqlitestore", "TestTwoProcesses|TestMigrate|TestConformanceOfAStoreOnAPath/Of_eight"),
	},
	{
		Name: "sqlite-hint-before-the-commit", What: "SQLite: the one hint of a commit comes when it is written, before it is there for readers",
		Evidence: "found in this project: the message waited for the poll, 0.5 s at the median",
		Patches:  []Patch{{"store/sqlitestore/wake.go", "			left = echoes\n", "			left = 0\n"}},
		By:       tests("store/sqlitestore", "TestAWALWriteWakesRepeatedlyUntilItsCommitIsVisible|TestConstantWritesWakeAtMostOncePerWatchInterval"),
	},
	{
		Name: "mysql-weak-settings-not-told", What: "MySQL and MariaDB: settings with which a crash undoes commits are not told",
		Evidence: "reproduced: the relay saw five rows, the server crashed, none remained (FAULTS A8)",
		Patches:  []Patch{{"store/mysqlstore/check.go", "		Warnings:   known.warnings,", "		Warnings:   known.warnings[:0],"}},
		By:       tests("store/mysqlstore", "TestUnsafeServerSettingsAreWarnedOf"),
	},
}

// leasing are mistakes in leases and settlements.
var leasing = []Mutant{
	{
		Name: "postgresql-parks-of-a-lost-settlement", What: "PostgreSQL: rows are parked whether or not the position moved",
		Evidence: "settle split in two",
		Patches:  []Patch{{"store/pgstore/query/settle.sql", "    i(shard, version, seq, slot, hash, state, blocking, attempts, delay, reason, held)\n  JOIN postbag._shards s ON s.id = i.shard AND s.version = i.version AND s.settled_x = pg_current_xact_id()", "    i(shard, version, seq, slot, hash, state, blocking, attempts, delay, reason, held)\n  JOIN postbag._shards s ON s.id = i.shard"}},
		By:       tests("store/pgstore", "TestConformance/A_settlement_(with|two)"),
	},
	{
		Name: "postgresql-blocked-key-forgotten", What: "PostgreSQL: who takes a shard over is told of no key that was blocked by its predecessor",
		Evidence: "in-memory block lists",
		Patches:  []Patch{{"store/pgstore/query/parked.sql", "FROM postbag._parked p WHERE p.shard = s.id AND p.blocking) h ON true", "FROM postbag._parked p WHERE p.shard = s.id AND p.blocking AND p.state <> 1) h ON true"}},
		By:       tests("store/pgstore", "TestConformance/Blocked_keys"),
	},
	{
		Name: "postgresql-in-flight-never-lands", What: "PostgreSQL: what was in flight when its relay died is never tried again",
		Evidence: "GoWDK#197, openlinker#2164: pending entries that nobody claims",
		Patches:  []Patch{{"store/pgstore/query/beat.sql", "p.sub = s.sub AND p.shard = s.id AND p.state = 3;", "p.sub = s.sub AND p.shard = s.id AND p.state = 3 AND p.attempts < 0;"}},
		By:       tests("store/pgstore", "TestConformance/A_message_in_flight"),
	},
	{
		Name: "postgresql-late-heartbeat-renewed", What: "PostgreSQL: a heartbeat whose time is over is renewed, if nobody has noticed yet",
		Evidence: "River: past leaders that think they keep winning",
		Patches:  []Patch{{"store/pgstore/query/beat.sql", "  FROM o WHERE r.id = o.id AND NOT o.dead AND o.expires > clock_timestamp()\n", "  FROM o WHERE r.id = o.id AND NOT o.dead\n"}},
		By:       tests("store/pgstore", "TestConformance/A_heartbeat"),
	},
	{
		Name: "postgresql-settled-without-version", What: "PostgreSQL: a settlement is judged by its token alone, so that a late copy is applied again",
		Evidence: "a repeat after a lost answer",
		Patches: []Patch{
			{"store/pgstore/query/settle.sql", "AND i.token <> 0 AND (s.version = i.version OR s.version = i.version + 1 AND s.settled = i.token)", "AND i.token <> 0"},
			{"store/pgstore/query/settle.sql", "  FROM o WHERE s.id = o.shard AND o.found = o.version\n", "  FROM o WHERE s.id = o.shard\n"},
		},
		By: tests("store/pgstore", "TestConformance/(A_settlement_with|A_settlement_two|A_repeated)"),
	},
	{
		Name: "sqlite-settled-without-version", What: "SQLite: a settlement is judged by its token alone, so that a late copy is applied again",
		Evidence: "a repeat after a lost answer",
		Patches:  []Patch{{"store/sqlitestore/sql.go", "SET position = ?6, version = version + 1, settled = token\nWHERE subscription = ?1 AND lo = ?2 AND hi = ?3 AND token = ?4 AND version = ?5", "SET position = ?6, version = version + 1, settled = token\nWHERE subscription = ?1 AND lo = ?2 AND hi = ?3 AND token = ?4 AND ?5 = ?5"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/(A_settlement_with|A_settlement_two|A_repeated)"),
	},
	{
		Name: "mysql-settled-without-version", What: "MySQL and MariaDB: a settlement is judged by its token alone, so that a late copy is applied again",
		Evidence: "a repeat after a lost answer",
		Patches: []Patch{
			{"store/mysqlstore/turn_settle_plain.go", "		b = strconv.AppendInt(append(b, \" AND version = \"...), work[i].Version, 10)\n", ""},
			{"store/mysqlstore/sql.go", "UPDATE postbag__shard SET position = ?, version = version + 1, settled = token\nWHERE subscription = ? AND lo = ? AND hi = ? AND token = ? AND version = ?", "UPDATE postbag__shard SET position = ?, version = version + 1, settled = token\nWHERE subscription = ? AND lo = ? AND hi = ? AND token = ? AND ? >= 0"},
		},
		By: tests("store/mysqlstore", "TestConformance/MariaDB/(A_settlement_with|A_settlement_two|A_repeated)"),
	},
	{
		Name: "sql-taken-though-held", What: "MySQL, MariaDB and SQLite: a shard that a live relay holds is taken",
		Evidence: "UPDATE ... SET locked_by without a condition (pkritiotis/go-outbox)",
		Patches:  []Patch{{"store/sqlkit/sql.go", "sqlFree = `SELECT 1 FROM postbag__shard WHERE subscription = ? AND lo = ? AND hi = ? AND owner = ''`", "sqlFree = `SELECT 1 FROM postbag__shard WHERE subscription = ? AND lo = ? AND hi = ? AND owner = owner`"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/(A_shard_that_a_live|Of_eight_relays)"),
	},
	{
		Name: "sql-lease-by-another-clock", What: "MySQL, MariaDB and SQLite: heartbeats are judged by a clock that is a day ahead",
		Evidence: "CAP#1682, oban#862, and clients' now() in claims",
		Patches:  []Patch{{"store/sqlkit/sql.go", "SET dead = 1 WHERE dead = 0 AND expires <= ?`", "SET dead = 1 WHERE dead = 0 AND expires <= ? + 86400000000`"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/(A_shard_that_a_live|A_view_shows|A_new_heartbeat)"),
	},
	{
		Name: "sql-late-heartbeat-renewed", What: "MySQL, MariaDB and SQLite: a heartbeat whose time is over is renewed, if nobody has noticed yet",
		Evidence: "River: past leaders that think they keep winning",
		Patches:  []Patch{{"store/sqlkit/sql.go", "conditions = ? WHERE id = ? AND dead = 0 AND expires > ?`", "conditions = ? WHERE id = ? AND dead = 0 AND expires > ? - 86400000000`"}, {"store/sqlkit/sql.go", "SELECT name, works, dead = 0 AND expires > ? FROM", "SELECT name, works, dead = 0 AND expires > ? - 86400000000 FROM"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_heartbeat"),
	},
	{
		Name: "sql-in-flight-never-lands", What: "MySQL, MariaDB and SQLite: what was in flight when its relay died is never tried again",
		Evidence: "GoWDK#197, openlinker#2164: pending entries that nobody claims",
		Patches:  []Patch{{"store/sqlkit/heartbeat.go", "	return t.land(id, shard.Slots)\n", "	return nil\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_message_in_flight"),
	},
	{
		Name: "sqlite-parks-of-a-lost-settlement", What: "SQLite: rows are parked whether or not the position moved",
		Evidence: "settle split in two",
		Patches:  []Patch{{"store/sqlitestore/turn_settle.go", "	fresh, err := t.advance(id, s)\n", "	fresh, err := t.advance(id, s)\n	if err == nil && !fresh {\n		err = t.exceptions(id, s)\n	}\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_settlement_(with|two)"),
	},
	{
		Name: "sqlite-repeat-applied-again", What: "SQLite: a settlement that is repeated after a lost answer is counted again",
		Evidence: "a repeat after a lost answer",
		Patches:  []Patch{{"store/sqlitestore/turn_settle.go", "		v.Applied, err = t.Row(sqlApplied,", "		sums.Add(id, 0, s.Tally)\n		v.Applied, err = t.Row(sqlApplied,"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_repeated_settlement"),
	},
	{
		Name: "mysql-settled-without-token", What: "MySQL and MariaDB: a settlement is judged by its version alone",
		Evidence: "unfenced done marks (pkritiotis/go-outbox)",
		Patches: []Patch{
			{"store/mysqlstore/turn_settle_plain.go", "		b = strconv.AppendInt(append(b, \" AND token = \"...), work[i].Token, 10)\n", ""},
			{"store/mysqlstore/sql.go", "UPDATE postbag__shard SET position = ?, version = version + 1, settled = token\nWHERE subscription = ? AND lo = ? AND hi = ? AND token = ? AND version = ?", "UPDATE postbag__shard SET position = ?, version = version + 1, settled = token\nWHERE subscription = ? AND lo = ? AND hi = ? AND ? > 0 AND version = ?"},
		},
		By: tests("store/mysqlstore", "TestConformance/MariaDB/(A_dead_relay|A_shard_given_back|A_lost_settlement|A_settlement_with)"),
	},
}

// keeping are mistakes in what is kept, and in what becomes due.
var keeping = []Mutant{
	{
		Name: "sql-retention-asks-the-first-only", What: "MySQL, MariaDB and SQLite: retention asks the default subscription only",
		Evidence: "droppers that do not look (velmie/outbox, postal#353)",
		Patches:  []Patch{{"store/sqlkit/sql.go", "WHERE s.box = ? AND s.name <> '@maintenance' ORDER BY s.id, h.lo`", "WHERE s.box = ? AND s.name = 'default' ORDER BY s.id, h.lo`"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/Nothing_is_dropped_while"),
	},
	{
		Name: "sqlite-parked-messages-deleted", What: "SQLite: retention deletes parked messages",
		Evidence: "state-blind cleaners (pkritiotis/go-outbox)",
		Patches:  []Patch{{"store/sqlitestore/sql.go", "DELETE FROM %[1]s WHERE seq > ?1 AND seq <= ?2 AND NOT EXISTS (", "DELETE FROM %[1]s WHERE seq > ?1 AND seq <= ?2 OR false AND NOT EXISTS ("}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_parked_message_outlives"),
	},
	{
		Name: "sqlite-ledger-not-compared", What: "SQLite: rows go although the ledger does not agree",
		Evidence: "a mismatch refuses and alarms",
		Patches:  []Patch{{"store/sqlitestore/maintain_retain.go", "		to = min(to, agreed)\n", "		to = max(to, agreed)\n"}},
		By:       tests("store/sqlitestore", "TestADeletedRowIsReportedAsAFault|TestTheLedgerAgreesIfShardsAreAtDifferentPositions|TestRetentionFollows"),
	},
	{
		Name: "sqlite-scheduled-sent-early", What: "SQLite: a scheduled message comes before it is due",
		Evidence: "schedules by another clock than the database's (FAULTS B5)",
		Patches: []Patch{
			{"store/sqlitestore/maintain_promote.go", "next.Valid && next.Int64 <= m.s.micros() && ", "next.Valid && "},
			{"store/sqlitestore/maintain_promote.go", "quoted(m.Box)), m.Box, t.Now, promoteRows)", "quoted(m.Box)), m.Box, t.Now+86_400_000_000, promoteRows)"},
			{"store/sqlitestore/maintain_promote.go", "t.Exec(sqlPromoted, m.Box, t.Now, promoteRows)", "t.Exec(sqlPromoted, m.Box, t.Now+86_400_000_000, promoteRows)"},
		},
		By: tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/A_scheduled_message_(comes|is_listed)"),
	},
	{
		Name: "mysql-scheduled-sent-early", What: "MySQL and MariaDB: a scheduled message comes before it is due",
		Evidence: "schedules by another clock than the database's (FAULTS B5)",
		Patches: []Patch{
			{"store/mysqlstore/maintain_promote.go", "if !next.Valid || next.Int64 > now || m.Late() {", "if !next.Valid || m.Late() {"},
			{"store/mysqlstore/maintain_promote.go", "[]any{m.Box, t.Now, promoteRows}", "[]any{m.Box, t.Now + 86_400_000_000, promoteRows}"},
		},
		By: tests("store/mysqlstore", "TestConformance/MariaDB/A_scheduled_message_(comes|is_listed)"),
	},
	{
		Name: "mysql-young-tombstones-dropped", What: "MySQL and MariaDB: a partition goes with tombstones in it that somebody may still come to",
		Evidence: "a row that is written where no reader comes any more",
		Patches:  []Patch{{"store/mysqlstore/maintain_drop.go", "		if youngest > now-keep {\n", "		if youngest > now+keep {\n"}},
		By:       tests("store/mysqlstore", "TestAPartitionWithARecentTombstoneIsKept"),
	},
	{
		Name: "mysql-parked-partition-dropped", What: "MySQL and MariaDB: a partition with a parked message is dropped",
		Evidence: "state-blind partition droppers (velmie/outbox)",
		Patches:  []Patch{{"store/mysqlstore/maintain_drop.go", "	return len(seqs) > 0, err\n", "	return len(seqs) < 0, err\n"}},
		By:       tests("store/mysqlstore", "TestAParkedMessageKeepsItsPartition"),
	},
	{
		Name: "mysql-waiting-partition-searched-for-strays", What: "MySQL and MariaDB: a tombstone of one partition holds all that wait for their drop",
		Evidence: "seen: 1,000 delivered messages of a partition sent again",
		Patches:  []Patch{{"store/mysqlstore/maintain_drop.go", "{ return m.Box + \"/\" + p.name }", "{ return m.Box }"}},
		By:       tests("store/mysqlstore", "TestAPartitionIsNotSentAgain"),
	},
	{
		Name: "mysql-commit-without-answer-taken-as-rolled-back", What: "MySQL and MariaDB: a COMMIT whose answer is lost is said to have failed",
		Evidence: "golang/go#11978, go-sql-driver#582",
		Patches:  []Patch{{"store/mysqlstore/appender.go", "		return fmt.Errorf(\"mysqlstore: commit: %w\", postbag.ErrCommitUnknown)", "		return translateError(\"commit\", err)"}},
		By:       tests("store/mysqlstore", "TestConformance/MariaDB/InTx"),
	},
	{
		Name: "sqlite-keys-differ-by-case-alone-are-one", What: "MySQL, MariaDB and SQLite: keys are compared as text, without case",
		Evidence: "reproduced: evt-Ab1 = evt-aB1 in MariaDB's default collation",
		Patches:  []Patch{{"store/storekit/place.go", "	if key != \"\" {\n		sum := sha256.Sum256([]byte(key))", "	if key != \"\" {\n		sum := sha256.Sum256(bytes.ToLower([]byte(key)))"}, {"store/storekit/place.go", "import (\n", "import (\n	\"bytes\"\n"}},
		By:       tests("store/sqlitestore", "TestConformanceOfAStoreOnAPath/Keys_that_differ"),
	},
}
