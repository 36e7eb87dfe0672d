package main

import (
	"time"

	watermillsql "github.com/ThreeDotsLabs/watermill-sql/v3/pkg/sql"

	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store/pgstore"
)

// scenarios are the measures, in the order in which they run. The numbers are
// those of the goals.
var scenarios = []scenario{
	{
		name: "1-drain-null", what: "drain to a null destination, order per key, messages/s",
		goal: atLeast("postbag", "raw", 0.7),
		ways: []way{{"raw", drainRaw}, {"postbag", drainTo(drained, 10_000, 1, null)}},
	},
	{
		name: "1-drain-supersede", what: "the same with a policy for rejections, of which there are none, messages/s",
		goal: atLeast("supersede", "skip", 0.97),
		ways: []way{
			{"skip", drainTo(drained, 10_000, 1, null, onReject(relay.Skip))},
			{"supersede", drainTo(drained, 10_000, 1, null, onReject(relay.Supersede))},
		},
	},
	{
		name: "1-drain-routes", what: "the same as a route that takes all: by topic, by a header, and but for another topic, messages/s",
		goal: atLeast("topic", "no filter", 0.95),
		ways: []way{
			{"no filter", drainTo(drained, 10_000, 1, null)},
			{"topic", drainTo(drained, 10_000, 1, null, where(relay.Where{Topics: []string{"bench.*"}}))},
			{"header", drainTo(drained, 10_000, 1, null, where(relay.Where{Headers: []string{"tenant=7"}}))},
			{"except", drainTo(drained, 10_000, 1, null, where(relay.Where{Except: []relay.Match{{Topics: []string{"other"}}}}))},
		},
	},
	{
		name: "1-drain-rate", what: "the same with a rate that is not reached, messages/s",
		goal: atLeast("rate", "no rate", 0.97),
		ways: []way{
			{"no rate", drainTo(drained, 10_000, 1, null)},
			{"rate", drainTo(drained, 10_000, 1, null, rated(relay.Rate{Messages: 1_000_000, Bytes: 1 << 30, Shared: true}))},
		},
	},
	{
		name: "1-drain-peers", what: "PostgreSQL to nothing beside watermill-sql (polling every millisecond), messages/s",
		goal: atLeast("postbag", "watermill-sql", 4),
		ways: []way{
			{"watermill-sql", watermillDrain(10_000, emptyPostgres, watermillsql.DefaultPostgreSQLSchema{}, watermillsql.DefaultPostgreSQLOffsetsAdapter{})},
			{"postbag", drainTo(drained, 10_000, 1, null)},
		},
	},
	{
		name: "2-drain-mariadb", what: "MariaDB to nothing, order per key, messages/s",
		goal: atLeast("postbag", "bare select", 0.6),
		ways: []way{
			{"bare select", bareSelect(300_000, mysqlBox(false))},
			{"select and settle", settledSelect(300_000, mysqlBox(false))},
			{"postbag", drainBox(300_000, mysqlBox(false))},
			{"watermill-sql", watermillDrain(10_000, emptyMySQL(false), watermillsql.DefaultMySQLSchema{}, watermillsql.DefaultMySQLOffsetsAdapter{})},
		},
	},
	{
		name: "2-drain-mysql", what: "MySQL to nothing, order per key, messages/s",
		goal: atLeast("postbag", "bare select", 0.6),
		ways: []way{
			{"bare select", bareSelect(300_000, mysqlBox(true))},
			{"select and settle", settledSelect(300_000, mysqlBox(true))},
			{"postbag", drainBox(300_000, mysqlBox(true))},
			{"watermill-sql", watermillDrain(10_000, emptyMySQL(true), watermillsql.DefaultMySQLSchema{}, watermillsql.DefaultMySQLOffsetsAdapter{})},
		},
	},
	{
		name: "2-drain-sqlite", what: "SQLite to nothing, order per key, messages/s",
		goal: atLeast("postbag", "bare select", 0.6),
		ways: []way{{"bare select", bareSelect(200_000, sqliteBox)}, {"postbag", drainBox(200_000, sqliteBox)}},
	},
	{
		name: "3-drain-nats", what: "PostgreSQL to NATS JetStream, messages/s",
		goal: atLeast("postbag", "raw", 0.8),
		ways: []way{{"raw", copyRaw(100_000, natsRaw)}, {"postbag", drainTo(100_000, 10_000, 1, natsDestination)}},
	},
	{
		name: "3-drain-redis", what: "PostgreSQL to Redis Streams, messages/s",
		goal: atLeast("postbag", "raw", 0.8),
		ways: []way{{"raw", copyRaw(100_000, redisRaw)}, {"postbag", drainTo(100_000, 10_000, 1, redisDestination)}},
	},
	{
		name: "3-drain-rabbitmq", what: "PostgreSQL to a quorum queue of RabbitMQ, messages/s",
		goal: atLeast("postbag", "raw", 0.8),
		ways: []way{{"raw", copyRaw(50_000, rabbitRaw)}, {"postbag", drainTo(50_000, 10_000, 1, rabbitDestination)}},
	},
	{
		name: "3-drain-kafka", what: "PostgreSQL to Kafka, acks=all, lz4, eight partitions, messages/s",
		goal: atLeast("postbag", "raw", 0.8),
		ways: []way{{"raw", copyRaw(300_000, kafkaRaw)}, {"postbag", drainTo(300_000, 10_000, 1, kafkaDestination)}},
	},
	{
		name: "3-debezium", what: "PostgreSQL to Kafka beside Debezium, messages/s", long: true,
		goal: atLeast("postbag", "debezium tuned", 2),
		ways: []way{{"debezium", debezium(300_000, nil)}, {"debezium tuned", debezium(300_000, tuned)}, {"postbag", drainTo(300_000, 10_000, 1, kafkaDestination)}},
	},
	{
		name: "3-exactly-once", what: "PostgreSQL to Kafka exactly once, and at least once, messages/s",
		goal: atLeast("exactly once", "raw transactions", 0.8),
		ways: []way{
			{"raw transactions", copyRaw(200_000, kafkaRawOnce)},
			{"exactly once", drainTo(200_000, 10_000, 1, kafkaOnce)},
			{"at least once", drainTo(200_000, 10_000, 1, kafkaDestination)},
		},
	},
	{
		name: "4-latency-exactly-once", what: "commit to a consumer of committed messages at 500 messages/s, to Kafka",
		goal: atMost("exactly once", "p99 ms", 100),
		ways: []way{{"exactly once", latencyToKafka(500, kafkaOnce)}, {"at least once", latencyToKafka(500, kafkaDestination)}},
	},
	{
		name: "4-latency-100", what: "commit to destination at 100 messages/s, relay on its own connection, polling",
		goal: atMost("polling", "p99 ms", 15),
		ways: []way{{"polling", latency(100, false, pgstore.Options{})}},
	},
	{
		name: "4-latency-1000", what: "the same at 1,000 messages/s",
		goal: atMost("polling", "p99 ms", 15),
		ways: []way{{"polling", latency(1000, false, pgstore.Options{})}},
	},
	{
		name: "4-latency-in-process", what: "the same, the relay in the publisher's process",
		goal: atMost("woken", "p99 ms", 2),
		ways: []way{{"woken", latency(1000, true, pgstore.Options{})}},
	},
	{
		name: "4-latency-listen", what: "the same in another process, that listens for notifications",
		goal: atMost("listening", "p99 ms", 2),
		ways: []way{{"listening", latency(1000, false, pgstore.Options{Listen: true})}},
	},
	{
		name: "4-latency-sparse", what: "a plain INSERT every 4.5 s by another connection, commit to destination", long: true,
		goal: atMost("NOTIFY", "p99 ms", 100),
		ways: []way{
			{"polling", sparsePostgres("", pgstore.Options{})},
			{"NOTIFY", sparsePostgres("NOTIFY postbag", pgstore.Options{Listen: true})},
		},
	},
	{
		name: "4-latency-sparse-mariadb", what: "the same on MariaDB", long: true,
		goal: atMost("woken", "p99 ms", 100),
		ways: []way{
			{"polling", sparseSQL(mysqlBox(false), "", false)},
			{"woken", sparseSQL(mysqlBox(false), "", true)},
		},
	},
	{
		name: "4-latency-sparse-sqlite", what: "the same on SQLite, where the kernel tells", long: true,
		goal: atMost("told", "p99 ms", 100),
		ways: []way{{"told", sparseSQL(sqliteBox, "PRAGMA busy_timeout = 5000", false)}},
	},
	{
		name: "5-idle", what: "an idle relay with its maintenance, statements/s",
		goal: atMost("idle", "statements/s", 3),
		ways: []way{{"idle", idle(idlePostgres)}},
	},
	{
		name: "5-idle-cpu", what: "CPU time of an idle relay, its server included; statements/s, and for SQLite round trips/s",
		goal: atMost("SQLite", "core %", 0.5),
		ways: []way{{"PostgreSQL", idle(idlePostgres)}, {"MariaDB", idle(idleMariaDB)}, {"SQLite", idle(idleSQLite)}},
	},
	{
		name: "14-stop", what: "a graceful stop with 1,000 messages in flight, one rejected, one for a topic that fails, p50 ms",
		goal: neverMore("max ms", 1000),
		ways: []way{{"PostgreSQL", stopping(stopPostgres)}, {"MariaDB", stopping(mysqlBox(false))}, {"SQLite", stopping(sqliteBox)}},
	},
	{
		name: "14-database-killed", what: "first delivery after the database answers, which was killed and started again, p50 ms",
		goal: neverMore("max ms", 1000),
		ways: []way{{"PostgreSQL", databaseKilled(crashPostgres)}, {"MariaDB", databaseKilled(crashMariaDB)}},
	},
	{
		name: "14-broker-away", what: "first delivery after the broker answers, which was away for three seconds, p50 ms",
		goal: neverMore("max ms", 2000),
		ways: []way{{"NATS", brokerAway(natsAway)}, {"Redis", brokerAway(redisAway)}, {"Kafka", brokerAway(kafkaAway)}},
	},
	{
		name: "6-publish", what: "one message a transaction, 8 clients, messages/s",
		goal: atLeast("postbag", "raw insert", 1/1.1),
		ways: []way{{"raw insert", publishing(8, 1, insertRaw)}, {"postbag", publishing(8, 1, publishMany(1))}},
	},
	{
		name: "6-publish-100", what: "100 messages a transaction in one statement, 4 clients, messages/s",
		goal: atLeast("postbag", "raw arrays", 0.8),
		ways: []way{{"raw arrays", publishing(4, 100, insertArrays(100))}, {"postbag", publishing(4, 100, publishMany(100))}},
	},
	{
		name: "7-producers", what: "writers with a relay process that drains what they write, messages/s",
		goal: atLeast("with relay", "alone", 0.95),
		ways: []way{{"alone", producers(0)}, {"with relay", producers(1)}},
	},
	sqlProducers("mariadb", false), sqlProducers("mysql", true),
	sqlProducersPaced("mariadb", false), sqlProducersPaced("mysql", true),
	{
		name: "8-backlog", what: "a backlog of 10 million: the last tenth's time by the first's", long: true,
		goal: atMost("postbag", "last/first tenth", 1.1),
		ways: []way{{"postbag", longDrain(10_000_000)}},
	},
	{
		name: "8-backlog-1m", what: "a backlog of 1 million: the last tenth's time by the first's",
		goal: atMost("postbag", "last/first tenth", 1.3),
		ways: []way{{"postbag", longDrain(1_000_000)}},
	},
	{
		name: "9-held", what: "latency at 1,000 messages/s while strangers hold a snapshot, and a write transaction",
		goal: atMost("writer held", "p99 ms", 18),
		ways: []way{
			{"free", latency(1000, false, pgstore.Options{})},
			{"snapshot held", held(latency(1000, false, pgstore.Options{}), snapshotHeld)},
			{"writer held", held(latency(1000, false, pgstore.Options{}), writerHeld)},
		},
	},
	{
		name: "9-held-long", what: "latency at 3,000 messages/s for ten minutes, strangers holding a snapshot and a write transaction", long: true,
		goal: atMost("both held", "p99 last/first tenth", 1.2),
		ways: []way{{"both held", held(latencyFor(10*time.Minute, 3000, 3, false, pgstore.Options{}), snapshotHeld, writerHeld)}},
	},
	{
		name: "10-two-relays", what: "two relays on one box beside one, messages/s",
		goal: atLeast("two", "one", 1.0),
		ways: []way{{"one", drainTo(drained, 10_000, 1, null)}, {"two", drainTo(drained, 10_000, 2, null)}},
	},
	{
		name: "11-hot-key", what: "all messages of one key to NATS, one at a time, messages/s",
		goal: atLeast("postbag", "raw one at a time", 0.8),
		ways: []way{{"raw one at a time", oneAtATime(5000)}, {"postbag", drainTo(5000, 1, 1, natsDestination)}},
	},
	{
		name: "12-allocations", what: "allocations a delivered message, reading included",
		goal: atMost("postbag", "allocations", 4),
		ways: []way{{"postbag", drainTo(drained, 10_000, 1, null)}},
	},
	{
		name: "13-once", what: "a message's id marked a transaction, 8 clients, messages/s",
		goal: atLeast("once", "raw insert", 1/1.1),
		ways: []way{{"raw insert", applying(8, 1, onceRaw)}, {"once", applying(8, 1, onceInbox)}},
	},
	{
		name: "13-apply", what: "a message's id marked and an account changed a transaction, 8 clients, messages/s",
		goal: atLeast("once", "by hand", 0.9),
		ways: []way{{"by hand", applying(8, 1, withUpdate(onceRaw))}, {"once", applying(8, 1, withUpdate(onceInbox))}},
	},
	{
		name: "13-consume", what: "a consumer with a handler that changes an account, 8 at once, from a source in memory, messages/s",
		goal: atLeast("consumer", "by hand", 0.9),
		ways: []way{{"by hand", applyByHand(consumed, 8, 10_000)}, {"consumer", consume(consumed, 8, 10_000)}},
	},
	{
		name: "13-handle", what: "a box of 500 keys into an account each by a relay, 8 at once, messages/s",
		goal: atLeast("counted first", "by hand", 0.9),
		ways: []way{
			{"by hand", applyByHand(consumed, 8, 500)},
			{"counted after", drainTo(10_000, 500, 1, handleEach(true), eightCalls)},
			{"counted first", drainTo(10_000, 500, 1, handleEach(false), eightCalls)},
		},
	},
	{
		name: "13-handle-five", what: "the same with five keys, which run side by side, messages/s",
		goal: atLeast("counted first", "by hand", 0.9),
		ways: []way{
			{"by hand", applyByHand(consumed, 5, 5)},
			{"counted after", drainTo(5000, 5, 1, handleEach(true), eightCalls)},
			{"counted first", drainTo(1000, 5, 1, handleEach(false), eightCalls)},
		},
	},
	{
		name: "13-once-500", what: "500 ids marked in one statement a transaction, 4 clients, messages/s",
		goal: atLeast("once", "raw arrays", 0.8),
		ways: []way{{"raw arrays", applying(4, 500, onceRawBatch(500))}, {"once", applying(4, 500, onceBatch(500))}},
	},
	{
		name: "13-receive", what: "Kafka into a table, 500 messages a transaction, messages/s",
		goal: atLeast("receiver", "by hand", 0.8),
		ways: []way{{"by hand", receiveByHand(received, receiveBatch)}, {"receiver", receive(received)}},
	},
	{
		name: "13-receive-one", what: "the same, beside a transaction for each message, messages/s",
		goal: atLeast("receiver", "one at a time", 3),
		ways: []way{{"one at a time", receiveByHand(3000, 1)}, {"receiver", receive(received)}},
	},
	{
		name: "13-effects", what: "a box into an account each, a page in one transaction with its record, messages/s",
		goal: atLeast("pages", "by hand", 0.8),
		ways: []way{{"by hand", copyRaw(50_000, effectsByHand(false))}, {"pages", drainTo(50_000, 10_000, 1, effects(false))}},
	},
	{
		name: "13-effects-batch", what: "the same with one statement for a page, messages/s",
		goal: atLeast("whole pages", "by hand", 0.8),
		ways: []way{{"by hand", copyRaw(200_000, effectsByHand(true))}, {"whole pages", drainTo(200_000, 10_000, 1, effects(true))}},
	},
	{
		name: "13-effects-one", what: "the same, beside a transaction for each message, messages/s",
		goal: atLeast("whole pages", "one at a time", 5),
		ways: []way{
			{"one at a time", drainTo(10_000, 10_000, 1, effectEach)},
			{"pages", drainTo(50_000, 10_000, 1, effects(false))},
			{"whole pages", drainTo(200_000, 10_000, 1, effects(true))},
		},
	},
	{
		name: "13-apply-peers", what: "a box into an account each, beside watermill-sql with Watermill's deduplicator, messages/s",
		goal: atLeast("pages", "watermill", 4),
		ways: []way{
			{"watermill", watermillApply(5000)}, {"one at a time", drainTo(10_000, 10_000, 1, effectEach)}, {"pages", drainTo(50_000, 10_000, 1, effects(false))},
		},
	},
	consoleScenario("pg", "PostgreSQL", 50_000_000, shownPostgres),
	consoleScenario("mariadb", "MariaDB", 10_000_000, shownMariaDB),
	consoleScenario("sqlite", "SQLite", 10_000_000, shownSQLite),
}
