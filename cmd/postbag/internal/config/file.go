package config

import "time"

// File is a postbag.yaml. The comments of its fields, and of those below, are the
// reference: docs/reference/configuration.md is made of them.
type File struct {
	// What people call this relay.
	Name string `yaml:"name" otherwise:"host:pid"`
	// How long leases outlive the last heartbeat. When a relay dies, others take over after
	// this time.
	TTL time.Duration `yaml:"ttl" range:"1s..10m" default:"15s"`
	// How long a graceful shutdown waits for answers that are out.
	Grace time.Duration `yaml:"grace" range:"1ms..1h" default:"10s"`
	// The longest pause between two polls of an idle store. A message waits that long at
	// most, if nobody wakes the relay.
	Poll time.Duration `yaml:"poll" range:"1ms..1m" otherwise:"1s; 500ms while other relays are there"`
	// The longest that an answered message waits for its settlement while there is little to
	// do. A crash may repeat what waits.
	SettleEvery time.Duration `yaml:"settle_every" range:"1ms..10s" default:"50ms"`
	// How long messages stay in the log after every subscription has passed them, in boxes
	// whose retention does not say it: boxes.*.retention.delivered of all others.
	Keep time.Duration `yaml:"keep" range:"1s..876000h" otherwise:"what the box holds, which is 72h at first"`
	// Whether this relay does the boxes' housekeeping.
	Maintenance *bool `yaml:"maintenance" default:"true"`

	// The database. Required, unless stores are.
	Store Store `yaml:"store"`
	// Several databases, by names of your choice, in place of store. This relay works
	// each by itself: none waits for another.
	Stores map[string]Store `yaml:"stores"`
	// Where messages go, by names of your choice. Each has one kind, and its settings below
	// that. At least one, unless there are sources.
	Destinations map[string]Destination `yaml:"destinations"`
	// What holds for all subscriptions of a box, by its name, in each store.
	Boxes map[string]Box `yaml:"boxes" otherwise:"none"`
	// Which box is delivered to which destination.
	Subscriptions []Subscription `yaml:"subscriptions" otherwise:"one with all its defaults; none without a destination"`
	// Where messages are taken in from, and which box gets them.
	Sources []Intake `yaml:"sources" otherwise:"none"`
	// Health and metrics.
	Admin Admin `yaml:"admin"`
	// The console, which postbag console serves.
	Console Console `yaml:"console"`
	// The log, on standard error.
	Log Log `yaml:"log"`
	// Traces and metrics for OpenTelemetry. Where they go is said by the standard environment
	// variables, such as OTEL_EXPORTER_OTLP_ENDPOINT (docs/guides/tracing.md).
	OTel OTel `yaml:"otel"`

	problems  *problems
	elsewhere bool // it is for another machine
}

// Store says which database. One of dsn, dsn_env and dsn_file is required.
type Store struct {
	// The kind of store.
	Kind string `yaml:"kind" otherwise:"what the DSN tells"`
	// The DSN, if it holds no password, or the path of a sqlite file.
	DSN string `yaml:"dsn"`
	// The environment variable that holds the DSN.
	DSNEnv string `yaml:"dsn_env"`
	// The file that holds the DSN.
	DSNFile string `yaml:"dsn_file"`
	// Make the schema and the boxes when they are missing.
	Create bool `yaml:"create" default:"false"`
	// Most connections to the database: a turn, a heartbeat, parked messages and
	// housekeeping can be under way at a time. Has no effect on sqlite; on mysql and mariadb it
	// is at least 4. Each source takes one more.
	MaxConns int `yaml:"max_conns" range:"2..1000" default:"4"`
	// About how much time one partition of a new box's table covers, on mysql and mariadb.
	// Whole partitions are then dropped instead of rows. An hour or a day is sensible. Read
	// about it in mysql.md first.
	Partition time.Duration `yaml:"partition" zero:"none" otherwise:"none"`
	// Wait for the notifications that publishers send, with pgstore's option Notify or with
	// NOTIFY postbag. It takes one more connection, which must not go through a pooler in
	// transaction mode. Has no effect on mysql, mariadb and sqlite.
	Listen bool `yaml:"listen" default:"false"`

	// A comment at the end of each statement, in the form of sqlcommenter. The server's
	// sessions and log then show whose statement it is.
	SQLComments SQLComments `yaml:"sql_comments" otherwise:"none"`
	// A replica of the database, on postgresql, mysql and mariadb. The console reads from it what need not be of the moment. Nothing
	// else uses it. See guides/console.md.
	Replica Replica `yaml:"replica"`

	// at is where it stands in the file, such as stores.main; empty: flags say it.
	at string
	// slots are the rules for slots that the file, or flags, say of boxes; nil: none.
	slots *slotRules
}

// Replica says where a replica is. One of dsn, dsn_env and dsn_file is required.
type Replica struct {
	// The DSN, if it holds no password.
	DSN string `yaml:"dsn"`
	// The environment variable that holds the DSN.
	DSNEnv string `yaml:"dsn_env"`
	// The file that holds the DSN.
	DSNFile string `yaml:"dsn_file"`
	// How far the replica may be behind. Beyond that the console reads the database itself.
	MaxLag time.Duration `yaml:"max_lag" range:"5s..1h" default:"30s"`
}

// SQLComments says what stands in the comment of each statement of a store.
type SQLComments struct {
	// The name of your application: at most 64 bytes, without control characters. With it,
	// statements have comments.
	Application string `yaml:"application" otherwise:"none"`
}

// Box is what holds for all subscriptions of a box.
type Box struct {
	// Headers that are added at delivery to each message that does not have them, as name:
	// value. Those of its subscription take precedence.
	Headers map[string]string `yaml:"headers" otherwise:"none"`
	// How long its messages stay, by what became of them. The store holds it, and what an
	// operator sets comes first: see guides/retention.md.
	Retention Retention `yaml:"retention"`
	// No subscription of the file reads the box: postbag plan and postbag apply look after it all the
	// same, in each store. Without it the name of such a box is a mistake.
	Unread bool `yaml:"unread" default:"false"`
	// How the slots of its messages are made: hash or number. By number, the shard key, or
	// else the key, is a decimal integer. A box keeps what it was made with: create and
	// postbag migrate up make a new box so, and another one is an error. See
	// guides/policies.md.
	Slots string `yaml:"slots" oneof:"hash number" otherwise:"what the box was made with, which is hash if nobody said it"`
}

// Retention is how long messages of a box stay.
type Retention struct {
	// How long a delivered message stays in the log after every subscription has passed it,
	// and one that no subscription takes.
	Delivered time.Duration `yaml:"delivered" range:"10m..876000h" otherwise:"keep"`
	// How long a discarded message stays in the log after every subscription has passed it,
	// with all that is behind it. Not less than delivered.
	Discarded time.Duration `yaml:"discarded" range:"10m..876000h" otherwise:"as long as delivered ones"`
	// How long a dead message stays parked before housekeeping has it discarded: a duration
	// from 10m to 876000h, or never.
	Dead string `yaml:"dead" otherwise:"never"`
}

// Admin is the listener for health checks, metrics and wakes.
type Admin struct {
	// Address of /healthz, /readyz, /metrics and /wake; a bare port means loopback.
	Listen string `yaml:"listen" otherwise:"off"`
	// Serve the console below /console/ too, with the settings of console but listen and tls. If listen
	// is an address that other machines reach, it needs console.access and console.proxy.addresses.
	Console bool `yaml:"console" default:"false"`
}

// OTel says what is sent to a collector of OpenTelemetry.
type OTel struct {
	// Send a span of each call to a destination. It continues the trace of the message.
	Traces bool `yaml:"traces" default:"false"`
	// Send metrics of calls, and what the relay counts.
	Metrics bool `yaml:"metrics" default:"false"`
	// Add the ids of messages to spans.
	MessageIDs bool `yaml:"message_ids" default:"false"`
}

// Log is how the relay logs.
type Log struct {
	// text or json.
	Format string `yaml:"format" oneof:"text json" default:"text"`
	// debug, info, warn or error.
	Level string `yaml:"level" oneof:"debug info warn error" default:"info"`
}
