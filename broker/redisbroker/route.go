package redisbroker

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/postbag/postbag/broker"
)

// stream is the name of the stream that m goes to.
func (o Options) stream(m *broker.Delivery) (name string, f *broker.Error) {
	switch {
	case o.Stream != nil:
		if name, f = adapter.Ask("Options.Stream", func() string { return o.Stream(*m) }); f != nil {
			return "", f
		}
	case m.Topic == "":
	case o.Fence:
		// The last colon ends the topic: the key's own are escaped.
		name = "{" + o.Prefix + m.Topic + ":" + escapeKey(m.Key) + "}"
	case o.Shards > 1:
		name = shardName(o.Prefix+m.Topic, shardOf(m, o.Shards))
	default:
		name = o.Prefix + m.Topic
	}
	if name == "" {
		return "", adapter.Failure(broker.Rejected, "the message has no topic, or Options.Stream gave no name", "give it one")
	}
	return name, nil
}

// shardName is the stream of a topic's shard.
func shardName(topic string, shard int) string {
	return "{" + topic + ":" + strconv.Itoa(shard) + "}"
}

// escapeKey keeps two topics and keys from making one name, and a brace in the key
// from ending the hash tag before it. A space stays a space.
func escapeKey(key string) string {
	if !strings.ContainsAny(key, ":{}%") {
		return key
	}
	return strings.NewReplacer("%", "%25", ":", "%3A", "{", "%7B", "}", "%7D").Replace(key)
}

// shardOf is the number of m's stream among n: the first twelve bits of SHA-256 of
// the key, or of the id's 16 bytes where there is no key, modulo n. They are the
// message's slot in its box, unless it has a ShardKey.
func shardOf(m *broker.Delivery, n int) int {
	text := []byte(m.Key)
	if len(text) == 0 {
		text = m.ID[:]
	}
	sum := sha256.Sum256(text)
	return (int(sum[0])<<4 | int(sum[1])>>4) % n
}
