package config

import "time"

// File is a postbag.yaml. The comments of its fields, and of those below, are the
// reference: docs/reference/configuration.md is made of them.
type File struct {
	// What people call this relay. Defaults to host:pid.
	Name string `yaml:"name"`
	// How long leases outlive the last heartbeat. When a relay dies, others take over
	// after this time. Defaults to 15s.
	TTL time.Duration `yaml:"ttl" range:"1s..10m"`
	// How long a graceful shutdown waits for answers that are out. Defaults to 10s.
	Grace time.Duration `yaml:"grace" range:"1ms..1h"`
	// The longest pause between two polls of an idle store. A message waits that long
	// at most, if nobody wakes the relay. Defaults to 1s; 500ms while other relays are
	// there.
	Poll time.Duration `yaml:"poll" range:"1ms..1m"`
	// How long messages stay in the log after every subscription has passed them.
	// Defaults to 72h.
	Keep time.Duration `yaml:"keep" range:"1s..876000h"`
	// Whether this relay does the boxes' housekeeping. Defaults to true.
	Maintenance *bool `yaml:"maintenance"`

	// The database. Required, unless stores are.
	Store Store `yaml:"store"`
	// Several databases, by names of your choice, in place of store. This relay works
	// each by itself: none waits for another.
	Stores map[string]Store `yaml:"stores"`
	// Where messages go, by names of your choice. Each has one kind, and its settings below
	// that. At least one.
	Destinations map[string]Destination `yaml:"destinations"`
	// Which box is delivered to which destination. Defaults to one with all its defaults.
	Subscriptions []Subscription `yaml:"subscriptions"`
	// Health and metrics.
	Admin Admin `yaml:"admin"`
	// The log, on standard error.
	Log Log `yaml:"log"`

	problems  *problems
	elsewhere bool // it is for another machine
}

// Store says which database. One of dsn, dsn_env and dsn_file is required.
type Store struct {
	// The kind of store. Defaults to what the DSN tells.
	Kind string `yaml:"kind"`
	// The DSN, if it holds no password, or the path of a sqlite file.
	DSN string `yaml:"dsn"`
	// The environment variable that holds the DSN.
	DSNEnv string `yaml:"dsn_env"`
	// The file that holds the DSN.
	DSNFile string `yaml:"dsn_file"`
	// Make the schema and the boxes when they are missing. Defaults to false.
	Create bool `yaml:"create"`
	// Most connections to the database. Has no effect on sqlite. Defaults to 4.
	MaxConns int `yaml:"max_conns" range:"2..1000"`
	// About how much time one partition of a new box's table covers, on mysql and mariadb.
	// Whole partitions are then dropped instead of rows. An hour or a day is sensible. Read
	// about it in mysql.md first. Defaults to none.
	Partition time.Duration `yaml:"partition" zero:"none"`
	// Wait for the notifications that publishers send, with pgstore's option Notify or
	// with NOTIFY postbag. It takes one more connection, which must not go through a pooler
	// in transaction mode. Has no effect on mysql, mariadb and sqlite. Defaults to false.
	Listen bool `yaml:"listen"`

	// at is where it stands in the file, such as stores.main; empty: flags say it.
	at string
}

// Subscription is a reader of a box with its policy.
type Subscription struct {
	// Its name. Defaults to "default".
	Name string `yaml:"name"`
	// The name of its store, of those in stores. Defaults to the only one.
	Store string `yaml:"store"`
	// The box it reads. Defaults to "outbox".
	Box string `yaml:"box"`
	// The name of its destination. Defaults to the only one.
	To string `yaml:"to"`
	// The form in which its messages go out. Defaults to the destination's own.
	Format *Format `yaml:"format"`
	// Where a new one begins: first, now, a time (RFC 3339), or how long ago (3d). Defaults to first.
	From string `yaml:"from"`
	// Types to deliver: exact, or a prefix and .*, such as order.*. Defaults to
	// all.
	Types []string `yaml:"types"`
	// Shards of a new subscription. Change them later with postbag shards set. Defaults
	// to 4; 1 on sqlite.
	Shards int `yaml:"shards" range:"1..4096"`
	// Which messages wait for each other: those of a key, of a shard, or none.
	// Defaults to key.
	Order string `yaml:"order" oneof:"key shard none"`
	// What a rejected message does to later ones of its key: block or skip.
	// Defaults to block.
	OnReject string `yaml:"on_reject" oneof:"block skip"`
	// Deliver exactly once, in transactions of the destination (kafka). Consumers that read
	// committed messages only see each of them once. Defaults to false.
	ExactlyOnce bool `yaml:"exactly_once"`
	// Back-off of rejected messages.
	Retry Retry `yaml:"retry"`
	// The longest call to the destination. Defaults to 30s.
	Timeout time.Duration `yaml:"timeout" range:"1ms..1h"`
	// Most messages in a call. Defaults to 500.
	Batch int `yaml:"batch" range:"1..100000"`
	// Most parked messages in a call while new ones wait. Defaults to a quarter
	// of batch.
	RetryBatch int `yaml:"retry_batch" range:"1..100000"`
	// Most messages that are sent and not settled: what a crash may repeat.
	// Defaults to 1000.
	InFlight int `yaml:"in_flight" range:"1..1000000"`
	// Most messages that may wait for topics that do not work. With that many, nothing
	// more is read. Defaults to 100000.
	MaxHeld int `yaml:"max_held" range:"1..10000000"`
	// Most bytes of messages in memory: read and not sent, in calls, and parked ones
	// that are tried. One message always goes, however large it is. A number of bytes,
	// or with a unit: 512KiB, 64MiB. Defaults to 64MiB.
	Buffer Size `yaml:"buffer" range:"1..1073741824"`
	// Most calls at a time. Defaults to 4; 32 for webhooks.
	Concurrency int `yaml:"concurrency" range:"1..10000"`
}

// Retry is the back-off of rejected messages.
type Retry struct {
	// Wait before the second attempt. Defaults to 10s.
	Min time.Duration `yaml:"min" range:"1ms..720h"`
	// Longest wait. Defaults to 10m.
	Max time.Duration `yaml:"max" range:"1ms..720h"`
	// By how much the wait grows. Defaults to 2.
	Factor float64 `yaml:"factor" range:"1..100"`
	// Attempts before a message is dead. Defaults to 20.
	MaxAttempts int `yaml:"max_attempts" range:"1..1000000"`
	// Attempts at once before the first wait. Defaults to 0.
	Quick int `yaml:"quick" range:"0..1000" zero:"none"`
}

// Admin is the listener for health checks, metrics and wakes.
type Admin struct {
	// Address of /healthz, /readyz, /metrics and /wake; a bare port means loopback.
	// Defaults to off.
	Listen string `yaml:"listen"`
}

// Log is how the relay logs.
type Log struct {
	// text or json. Defaults to text.
	Format string `yaml:"format" oneof:"text json"`
	// debug, info, warn or error. Defaults to info.
	Level string `yaml:"level" oneof:"info debug warn error"`
}
