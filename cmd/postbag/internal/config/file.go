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
