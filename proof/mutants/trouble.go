package mutants

// Mistakes with servers that are not what they were, or not what they should be.
var enduring = []Mutant{
	{
		Name: "mysql-standby-not-refused", What: "MySQL and MariaDB: a relay works on a server that is read-only",
		Evidence: "Jepsen on RDS: replicas show commits in another order (FAULTS A6)",
		Patches:  []Patch{{"store/mysqlstore/server.go", "	case v.readOnly:\n", "	case v.readOnly && v.step < 0:\n"}, {"store/mysqlstore/reconcile.go", "			case t.readOnly:\n", "			case t.readOnly && t.step < 0:\n"}},
		By:       tests("store/mysqlstore", "TestAReadOnlyServerIsAStandby/MariaDB"),
	},
	{
		Name: "mysql-fail-over-not-noticed", What: "MySQL and MariaDB: a position that was read on one server is used on the one that took over",
		Evidence: "seqs that were lost with a primary are given out again (FAULTS A7, A16)",
		Patches:  []Patch{{"store/mysqlstore/server.go", "	return max(h.Sum32(), 1)\n", "	return max(h.Sum32()&0, 1)\n"}},
		By:       tests("store/mysqlstore", "TestAFailOverToALaggingReplicaDeliversWhatItHas/MariaDB"),
	},
	{
		Name: "mysql-emptied-log-not-noticed", What: "MySQL and MariaDB: a position beyond the end of the log is read on from",
		Evidence: "counters that begin again after a restart or TRUNCATE (FAULTS A16)",
		Patches: []Patch{
			{"store/mysqlstore/turn_read.go", "	if w.status && !w.towards && w.last < w.from.high {", "	if w.status && !w.towards && w.last < w.from.high && w.last < 0 {"},
			{"store/mysqlstore/renumbered.go", "		return p.high <= swept\n", "		return true\n"},
		},
		By: tests("store/mysqlstore", "TestALogThatWasEmptiedIsReadFromItsBeginning/MariaDB"),
	},
	{
		Name: "mysql-replaced-table-not-noticed", What: "MySQL and MariaDB: a table that was replaced by a longer one goes on at the old positions",
		Evidence: "restores of one table; schemas changed under a reader (eventuate-cdc#165)",
		Patches: []Patch{
			{"store/mysqlstore/reconcile.go", "		log.witnessed = found && string(id) == string(log.id)\n", "		log.witnessed = found || len(log.id) > 0\n"},
			{"store/mysqlstore/renumbered.go", "		return mark == p.mark\n", "		return true\n"},
		},
		By: tests("store/mysqlstore", "TestAReplacedTableIsNoticedByItsMissingRow/MariaDB"),
	},
	{
		Name: "mysql-refilled-log-not-noticed", What: "MySQL and MariaDB: a log that was emptied and filled again beyond a position is read on from there",
		Evidence: "seen on Postbag: 10 to 50 rows lost after TRUNCATE, or AUTO_INCREMENT = 1",
		Patches:  []Patch{{"store/mysqlstore/renumbered.go", "		return mark == p.mark\n", "		return true\n"}},
		By:       tests("store/mysqlstore", "TestALogThatWasEmptiedAndRenumberedIsReadFromTheStart/MariaDB"),
	},
	{
		Name: "sqlite-refilled-log-not-noticed", What: "SQLite: a log that was emptied and filled again beyond a position is read on from there",
		Evidence: "seen on Postbag: rows lost after sqlite_sequence was set back",
		Patches:  []Patch{{"store/sqlitestore/renumbered.go", "now.mark == 0 || now.mark == at.mark, err", "now.mark == 0 || now.mark != 0, err"}},
		By:       tests("store/sqlitestore", "TestALogThatWasEmptiedAndRenumberedIsReadFromTheStart"),
	},
	{
		Name: "mysql-kept-rows-of-a-log-that-began-anew", What: "MySQL and MariaDB: housekeeping below the log's beginning goes by a beginning that was read before",
		Evidence: "seen on Postbag: messages lost when the log was emptied and numbered again in between",
		Patches:  []Patch{{"store/mysqlstore/maintain_kept.go", "err != nil || swept < end {", "err != nil || swept < 0 {"}},
		By:       tests("store/mysqlstore", "TestHousekeepingLeavesALogThatWasJustRenumbered/MariaDB"),
	},
	{
		Name: "sqlite-kept-rows-of-a-log-that-began-anew", What: "SQLite: housekeeping below the log's beginning goes by a beginning that was read before",
		Evidence: "seen on Postbag: the fault harness lost seven messages when the log was emptied and numbered again in between",
		Patches:  []Patch{{"store/sqlitestore/maintain_retain.go", "err != nil || swept < end {", "err != nil || swept < 0 {"}},
		By:       tests("store/sqlitestore", "TestHousekeepingLeavesALogThatWasJustRenumbered"),
	},
	{
		Name: "mysql-packet-limit-not-asked", What: "MySQL and MariaDB: what the server takes in one packet is not asked for",
		Evidence: "errors at random sizes, in the middle of a producer's transaction (FAULTS D16)",
		Patches:  []Patch{{"store/mysqlstore/append.go", "	return int(min(p.packet.Load()-statementRoom, largestStatement))", "	return int(max(p.packet.Load()-statementRoom, largestStatement))"}},
		By:       tests("store/mysqlstore", "TestAMessageTooLargeForTheServerIsRefusedBeforeAnySQL/MariaDB"),
	},
	{
		Name: "mysql-times-of-the-session", What: "MySQL and MariaDB: a row is stored with the local time of its session",
		Evidence: "go-sql-driver#1114, #1379; naive times compared with UTC (FAULTS D15)",
		Patches:  []Patch{{"store/mysqlstore/schema/box.sql", "	at        BIGINT          NOT NULL DEFAULT (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)))", "	at        BIGINT          NOT NULL DEFAULT (TIMESTAMPDIFF(MICROSECOND, '1970-01-01', NOW(6)))"}},
		By:       tests("store/mysqlstore", "TestAPlainInsertPublishesAndAnEmptyOneIsAnError/MariaDB"),
	},
	{
		Name: "mysql-errors-quote-values", What: "MySQL and MariaDB: errors hold what the server says, with the values that it quotes",
		Evidence: "keys and payloads in logs (FAULTS G7, G8; MassTransit#5114)",
		Patches:  []Patch{{"store/mysqlstore/errors.go", "	return fmt.Sprintf(\"the server refused with error %d (%s)\", refused.Number, refused.SQLState[:])", "	return refused.Error()"}},
		By:       tests("store/mysqlstore", "TestErrorsQuoteNoValueOfAMessage/MariaDB"),
	},
	{
		Name: "postgresql-weak-settings-not-told", What: "PostgreSQL: settings with which a crash undoes commits are not told",
		Evidence: "reproduced: the relay saw five rows, the server crashed, none remained (FAULTS A8)",
		Patches:  []Patch{{"store/pgstore/check.go", "	}})\n	return out, err\n", "	}})\n	return out[:0], err\n"}},
		By:       tests("store/pgstore", "TestUnsafeServerSettingsAreWarnedOf"),
	},
	{
		Name: "postgresql-newer-schema-taken", What: "PostgreSQL: a schema that needs a newer program is worked with",
		Evidence: "rolling upgrades: the older relay does not know the newer state (FAULTS B19)",
		Patches:  []Patch{{"store/pgstore/migrate.go", "	case v.reader > readerVersion:", "	case v.reader > readerVersion && v.schema < 0:"}},
		By:       tests("store/pgstore", "TestASchemaThatNeedsANewerProgram"),
	},
	{
		Name: "sql-newer-schema-taken", What: "MySQL, MariaDB and SQLite: a schema that needs a newer program is worked with",
		Evidence: "rolling upgrades: the older relay does not know the newer state (FAULTS B19)",
		Patches:  []Patch{{"store/sqlkit/migrate.go", "	case reader > known:", "	case reader > known && version < 0:"}},
		By:       tests("store/sqlitestore", "TestASchemaOfAnotherVersion"),
	},
	{
		Name: "postgresql-cached-sequence-taken", What: "PostgreSQL: a sequence that gives each session numbers of its own is worked with",
		Evidence: "seqs of later transactions below those of earlier ones (FAULTS A1, A14)",
		Patches:  []Patch{{"store/pgstore/check.go", "	if cache != 1 || cycles || step < 1 {", "	if cache < 1 || cycles || step < 1 {"}},
		By:       tests("store/pgstore", "TestASequenceWithUnsafeOptionsIsRefused"),
	},
	{
		Name: "postgresql-key-locks-of-the-session", What: "PostgreSQL: the lock of a key belongs to the session, not to the transaction",
		Evidence: "locks that stay behind in poolers (authentik#23876, pgbouncer#617)",
		Patches:  []Patch{{"store/pgstore/query/append.sql", "SELECT pg_advisory_xact_lock(h.hash) FROM", "SELECT pg_advisory_lock(h.hash) FROM"}},
		By:       tests("store/pgstore", "TestConformance/Lock_makes"),
	},
	{
		Name: "sqlite-weak-settings-taken", What: "SQLite: synchronous may be less than FULL",
		Evidence: "reproduced: a power cut undoes commits that were published (FAULTS A8)",
		Patches:  []Patch{{"store/sqlitestore/settings.go", "	if s.synchronous < synchronousFull {", "	if s.synchronous < 0 {"}},
		By:       tests("store/sqlitestore", "TestUnsafeSettingsOfAnApplicationsDBAreRefused|TestASettingOfOneConnection"),
	},
	{
		Name: "sqlite-damaging-library-taken", What: "SQLite: versions that can damage their write-ahead log are taken",
		Evidence: "cznic/sqlite#247, sqlite.org/changes.html: 3.51.3 and 3.53.0 (FAULTS D20)",
		Patches:  []Patch{{"store/sqlitestore/settings.go", "	return minor >= 53\n", "	return minor >= 35\n"}},
		By:       tests("store/sqlitestore", "TestSQLiteVersionsThatCorruptTheWALAreRefused"),
	},
	{
		Name: "sqlite-log-never-emptied", What: "SQLite: the write-ahead log is not emptied",
		Evidence: "checkpoint starvation: gigabytes of log (FAULTS D19)",
		Patches:  []Patch{{"store/sqlitestore/maintain_checkpoint.go", "	if size < min(smallWAL, m.s.opts.LargeWAL) {", "	if size < max(1<<40, smallWAL, m.s.opts.LargeWAL) {"}},
		By:       tests("store/sqlitestore", "TestTheWriteAheadLogStaysBounded|TestALongReaderKeepsTheWALAndIsWarnedOf"),
	},
	{
		Name: "store-calls-without-a-deadline", What: "a relay waits for its store for as long as that takes",
		Evidence: "River#1251: a call on a dead connection hung until the restart",
		Patches:  []Patch{{"relay/loop_turn.go", "		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)\n		defer cancel()\n		result, err := l.exchange", "		ctx, cancel := context.WithCancel(l.ctx)\n		defer cancel()\n		result, err := l.exchange"}},
		By:       coreTests("relay", "TestACallOfTheStoreThatHangs"),
	},
	{
		Name: "heartbeats-without-a-deadline", What: "a relay waits for the answer to its heartbeat for as long as that takes",
		Evidence: "River#1251; heartbeats behind other calls lose their lease (FAULTS B16)",
		Patches:  []Patch{{"relay/loop_heartbeat.go", "		ctx, cancel := context.WithTimeout(l.ctx, min(storeTimeout, l.options.TTL))\n", "		ctx, cancel := context.WithCancel(l.ctx)\n"}},
		By:       coreTests("relay", "TestACallOfTheStoreThatHangs"),
	},
	{
		Name: "outage-tried-without-a-pause", What: "a destination that is down is tried again at once",
		Evidence: "herds after an outage (CAP#1797); one bad destination at 100 % of a processor (MassTransit#6216)",
		Patches:  []Patch{{"internal/engine/call_circuit.go", "	c.until = now + max(pause, min(after, cfg.AfterMax))", "	c.until = now + min(pause, 0)"}},
		By:       sim(),
	},
	{
		Name: "old-messages-not-looked-for", What: "messages that were published half a minute ago are not read any more",
		Evidence: "velmie/outbox reads created_ts >= now - window (FAULTS A11)",
		Patches:  []Patch{{"proof/simulation/server_log_snapshot.go", "	if m.state != committed || ", "	if m.state != committed || m.begun+30*time.Second < l.server.w.instant() || "}, {"proof/simulation/server_log_snapshot.go", "import (\n", "import (\n	\"time\"\n\n"}},
		By:       sim("-store", "snapshots"),
	},
	{
		Name: "names-of-boxes-not-looked-at", What: "the name of a box may hold anything",
		Evidence: "table names put into SQL by fmt.Sprintf (FAULTS G6)",
		Patches:  []Patch{{"box_name.go", "	case name[0] < 'a' || name[0] > 'z' || !onlyNameBytes(name, \"_\"):\n", "	case name[0] == 0 && !onlyNameBytes(name, \"_\"):\n"}},
		By:       coreTests(".", "TestValidBox"),
	},
}
