package redisbroker

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
)

// Options set a destination up. The zero Options add a message to the stream that
// its topic is, which grows without bound and is made by its first entry.
type Options struct {
	// Prefix is put before the topic to make the stream's name: "events:".
	// Defaults to nothing.
	Prefix string

	// Shards splits each topic over so many streams by key: {orders:0}, {orders:1}
	// and so on. A key's messages are always in one of them; those without a key
	// go by their id. In a cluster the streams are spread over the nodes; the
	// braces let what belongs to one stream share its slot ({orders:1}:done).
	// Another number sends a key to another stream: change it only when consumers
	// have read everything. Defaults to 1: one stream, named as the topic.
	Shards int

	// Stream makes the name of a message's stream, in place of Prefix, topic and
	// Shards. It must always give one message one stream, and one key one stream,
	// and is called from several goroutines.
	Stream func(m broker.Delivery) string

	// Existing has entries added only to streams that are there (NOMKSTREAM); a
	// message for another is Misconfigured. Defaults to making them.
	Existing bool

	// Fence gives each key a stream of its own, {orders:key}, and each entry an id
	// made of Epoch, the database's life and the message's seq, so that a message
	// is stored once however often it is sent. A message that commits after one of a
	// higher seq needs Redis 7, and a stream that was not trimmed past it. With Stream, that must give each key
	// its own stream. Messages without a key, or without a seq, get ids of the
	// server's and are not fenced. Defaults to ids of the server's.
	Fence bool

	// Epoch is the first half of a fenced id's first number. Raise it by one when
	// the box's database was replaced by an older copy of itself, whose seqs begin
	// again below what the streams hold. Defaults to 0.
	Epoch uint32

	// Replicas is how many replicas must have what a call sent before it is Accepted
	// (WAIT). If they do not within ReplicaWait, all of the call's messages on that
	// node are Unknown, because they are stored, and are sent again. Defaults to 0: the
	// primary's word is enough.
	Replicas int

	// ReplicaWait is how long replicas may take. It must be below the client's
	// ReadTimeout. Defaults to 1 s.
	ReplicaWait time.Duration

	// MaxLen trims a stream to about so many entries, the oldest first, read or
	// not, as each entry is added. Defaults to no limit.
	MaxLen int64

	// MaxAge trims entries older than this, read or not, by the relay's clock and
	// the times in their ids, which fenced ones do not have. Defaults to no limit.
	MaxAge time.Duration

	// ExactTrim trims to the very number or age (=), which costs the server more
	// than leaving it some slack (~). Defaults to the slack.
	ExactTrim bool

	// MaxBytes is the largest payload, in bytes; a larger one is Rejected. Defaults
	// to the server's proto-max-bulk-len, which is asked for when a message has a
	// part above 1 MiB, and taken for Redis' own default of 512 MiB where CONFIG
	// may not be asked.
	MaxBytes int

	// Login is for Dial alone.
	Login Login
}

const (
	defaultReplicaWait = time.Second
	maxShards          = 4096 // as many as there are slots of keys, see shardOf
)

// Validate returns every fault of the options, joined, or nil.
func (o Options) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("redisbroker: "+format, args...)) }
	if o.Stream != nil && (o.Prefix != "" || o.Shards > 1) {
		fault("Options.Stream and Options.Prefix or Shards are both set; let Stream make the whole name")
	}
	if strings.ContainsAny(o.Prefix, "{}") {
		fault("Options.Prefix %.64q has a brace, which decides the slot of a cluster; leave it out, or use Options.Stream", o.Prefix)
	}
	if o.Shards < 0 || o.Shards > maxShards {
		fault("Options.Shards is %d; use 1 to %d, or zero for 1", o.Shards, maxShards)
	}
	if o.Fence && o.Shards > 1 {
		fault("Options.Fence and Options.Shards are both set, and a fence needs a stream for each key; drop one of them")
	}
	if o.Fence && o.MaxAge > 0 {
		fault("Options.Fence and Options.MaxAge are both set, and fenced ids hold no time; use MaxLen, or trim elsewhere")
	}
	if o.Epoch > 0 && !o.Fence {
		fault("Options.Epoch is set without Options.Fence, which alone uses it; set Fence, or leave Epoch out")
	}
	if o.Replicas < 0 {
		fault("Options.Replicas is %d; use a positive number, or zero for none", o.Replicas)
	}
	if o.ReplicaWait < 0 || o.ReplicaWait > 0 && o.ReplicaWait < time.Millisecond {
		fault("Options.ReplicaWait is %v; use at least 1 ms, or zero for 1 s", o.ReplicaWait)
	}
	if o.MaxLen < 0 || o.MaxAge < 0 {
		fault("Options.MaxLen is %d and MaxAge %v; use positive ones, or zero for no limit", o.MaxLen, o.MaxAge)
	}
	if o.MaxLen > 0 && o.MaxAge > 0 {
		fault("Options.MaxLen and Options.MaxAge are both set, and an XADD takes one; drop one of them")
	}
	if o.MaxBytes < 0 {
		fault("Options.MaxBytes is %d; use a positive number, or zero for the server's own limit", o.MaxBytes)
	}
	return errors.Join(append(faults, o.Login.validate("Options")...)...)
}

// withDefaults fills what is zero.
func (o Options) withDefaults() Options {
	if o.Shards == 0 {
		o.Shards = 1
	}
	if o.ReplicaWait == 0 {
		o.ReplicaWait = defaultReplicaWait
	}
	return o
}
