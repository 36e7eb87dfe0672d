package redisbroker

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// SourceOptions set a source up. Group, one of URL and Client, and Topics or Streams are
// required.
type SourceOptions struct {
	// URL is one URL, or several with commas between, as for Dial. The source then has a
	// client of its own. Defaults to none.
	URL string
	// Login is for URL alone.
	Login Login
	// Client is one of the application, as for New, which stays open. Defaults to none.
	Client redis.UniversalClient

	// Topics are read from the streams that a destination with the same Prefix and Shards
	// makes of them. All shards of a topic are read. The streams of Options.Fence, one for
	// each key, cannot be read like that.
	Topics []string
	// Prefix and Shards are those of the destination's Options. Shards is 1 to 4,096.
	// Default to nothing, and to 1.
	Prefix string
	Shards int
	// Streams are names of streams to read besides. Defaults to none.
	Streams []string

	// Group is the consumer group. Sources that name the same one share the messages. A
	// stream that does not have it gets it.
	Group string
	// Consumer is this source's name in the group. A source that is opened with a name
	// begins with what was at work under that name, at once. No two sources may have one
	// name at a time. Defaults to a random name, which is removed by Close: what a process
	// that died had at work then comes again after AckWait.
	Consumer string
	// NewOnly makes a group begin with messages that are stored after it was made. It says
	// nothing of a group that exists, nor of one that is made again while the source is
	// open. Defaults to the first message that the stream has.
	NewOnly bool
	// Existing has the source use only streams that are there; one that is not is
	// source.ErrMisconfigured until it is. Defaults to making them (MKSTREAM).
	Existing bool

	// AckWait is for how long a message may be at work before a member takes it over,
	// unless it is extended. All members of a group must have the same. From 1 s to 24 h.
	// Defaults to 1 min.
	AckWait time.Duration
	// PayloadField is the field that holds the payload. Defaults to "payload", as
	// destinations write it.
	PayloadField string
	// Log is Place.Source: it names this Redis for ever. Give sources of different servers
	// different ones, if their messages are marked under one consumer and have no ids.
	// Change it if entry ids begin again in a stream that was deleted, which those of the
	// server do not do. Defaults to "redis".
	Log string
	// ReadCount is how many entries of each stream one read asks for at most. What a Fetch
	// cannot return is kept for the next one. Less is asked for if entries are large.
	// Defaults to 500.
	ReadCount int
	// OnFault hears of what no call reports: messages that were deleted while they were at
	// work or waited to come again, and groups that were deleted and made again. It is
	// called from goroutines of the source. Do not call the source from it. Optional.
	OnFault func(err error)
}

const (
	defaultClaimWait = time.Minute
	minClaimWait     = time.Second
	maxClaimWait     = 24 * time.Hour
	defaultReadCount = 500
	maxReadCount     = 10_000
	defaultLog       = "redis"
)

// releasedName is the consumer under which messages wait that were released or given back.
const releasedName = "postbag-released"

// Validate returns every fault of the options, joined, or nil.
func (o SourceOptions) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("redisbroker: SourceOptions."+format, args...))
	}
	switch {
	case o.Client != nil && o.URL != "":
		fault("URL and SourceOptions.Client are both set; use one of them")
	case o.Client != nil:
		if _, err := usableClient("OpenSource", o.Client); err != nil {
			faults = append(faults, err)
		}
		if c, ok := o.Client.(*redis.ClusterClient); ok && c.Options().ReadOnly {
			fault("Client reads from replicas (ReadOnly, RouteByLatency or RouteRandomly), which know late who has a message; give one that does not")
		}
	case o.URL == "":
		fault("URL is empty; give one such as redis://host:6379, or a Client")
	default:
		servers, err := parse(o.URL)
		if err == nil {
			err = servers.fits(o.Login)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	if strings.ContainsAny(o.Prefix, "{}") {
		fault("Prefix %.64q has a brace, which decides the slot of a cluster; leave it out, or use SourceOptions.Streams", o.Prefix)
	}
	if o.Shards < 0 || o.Shards > maxShards {
		fault("Shards is %d; use 1 to %d, or zero for 1", o.Shards, maxShards)
	} else {
		faults = append(faults, o.badStreams()...)
	}
	if o.Group == "" {
		fault("Group is empty; name the consumer group")
	}
	if o.Consumer == releasedName {
		fault("Consumer is %q, which the source uses for messages that wait; use another name", releasedName)
	}
	if o.AckWait != 0 && (o.AckWait < minClaimWait || o.AckWait > maxClaimWait) {
		fault("AckWait is %v; choose between %v and %v, or zero for %v", o.AckWait, minClaimWait, maxClaimWait, defaultClaimWait)
	}
	if o.ReadCount < 0 || o.ReadCount > maxReadCount {
		fault("ReadCount is %d; choose between 1 and %d, or zero for %d", o.ReadCount, maxReadCount, defaultReadCount)
	}
	return errors.Join(append(faults, o.Login.validate("SourceOptions")...)...)
}

func (o SourceOptions) badStreams() []error {
	var faults []error
	if len(o.Topics)+len(o.Streams) == 0 {
		faults = append(faults, errors.New("redisbroker: SourceOptions.Topics and SourceOptions.Streams are both empty; name what is to be read"))
	}
	seen := map[string]bool{}
	for _, s := range o.streams() {
		switch {
		case s.topic == "":
			faults = append(faults, errors.New("redisbroker: SourceOptions.Topics or Streams has an empty name; leave it out"))
		case seen[s.name]:
			faults = append(faults, fmt.Errorf("redisbroker: SourceOptions name the stream %.64q twice; leave one out", s.name))
		}
		seen[s.name] = true
	}
	return faults
}

// sourceStream is a stream that a source reads.
type sourceStream struct {
	name  string
	topic string // of messages that do not say theirs
}

// streams are those that the options name.
func (o SourceOptions) streams() []sourceStream {
	var all []sourceStream
	for _, topic := range o.Topics {
		if topic == "" || o.Shards <= 1 {
			all = append(all, sourceStream{name: o.Prefix + topic, topic: topic})
			continue
		}
		for i := range o.Shards {
			all = append(all, sourceStream{name: shardName(o.Prefix+topic, i), topic: topic})
		}
	}
	for _, name := range o.Streams {
		all = append(all, sourceStream{name: name, topic: name})
	}
	return all
}

// withDefaults fills what is zero.
func (o SourceOptions) withDefaults() SourceOptions {
	if o.AckWait == 0 {
		o.AckWait = defaultClaimWait
	}
	if o.PayloadField == "" {
		o.PayloadField = fieldPayload
	}
	if o.Log == "" {
		o.Log = defaultLog
	}
	if o.ReadCount == 0 {
		o.ReadCount = defaultReadCount
	}
	if o.OnFault == nil {
		o.OnFault = func(error) {}
	}
	return o
}
