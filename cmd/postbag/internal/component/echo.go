package component

import (
	"regexp"
	"slices"
	"strings"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

// sameServer says whether two addresses are one, or have a server in common. What stands in
// variables and files is compared by their names.
func (a *Address) sameServer(b *Address) bool {
	if a.URL == "" || b.URL == "" {
		return a.URL == b.URL && a.URLEnv == b.URLEnv && a.URLFile == b.URLFile
	}
	servers := serversOf(b.URL)
	return slices.ContainsFunc(serversOf(a.URL), func(s string) bool { return slices.Contains(servers, s) })
}

// serversOf are the servers of a URL, each without scheme and path.
func serversOf(url string) (all []string) {
	for one := range strings.SplitSeq(strings.ToLower(url), ",") {
		if _, rest, found := strings.Cut(one, "://"); found {
			one = rest
		}
		one, _, _ = strings.Cut(strings.TrimSpace(one), "/")
		all = append(all, one)
	}
	return all
}

// Echoes implements config.Echoing: a message has the topic that it came from, behind the prefix.
// A pattern that takes one name and what comes behind the prefix is taken for one of every name.
func (k *Kafka) Echoes(from config.Settings) bool {
	s, is := from.(*KafkaSource)
	if !is || !k.sameServer(&s.Address) {
		return false
	}
	pattern, err := regexp.Compile("^(?:" + s.Pattern + ")$")
	return slices.ContainsFunc(s.Topics, func(topic string) bool { return slices.Contains(s.Topics, k.Prefix+topic) }) ||
		s.Pattern != "" && err == nil && (k.Prefix == "" || pattern.MatchString(k.Prefix+"any") && pattern.MatchString("any"))
}

// Echoes implements config.Echoing: a message has the subject that it came from, behind the prefix.
func (n *NATS) Echoes(from config.Settings) bool {
	s, is := from.(*NATSSource)
	return is && n.Prefix == "" && (n.Stream == "" || n.Stream == s.Stream) && n.sameServer(&s.Address)
}

// Echoes implements config.Echoing. The routing key that a message came with is its topic.
func (q *RabbitMQ) Echoes(from config.Settings) bool {
	s, is := from.(*RabbitMQSource)
	if !is || q.VHost != s.VHost || !q.sameServer(&s.Address) {
		return false
	}
	if q.Exchange == "" {
		return q.RoutingKey == s.Queue // the default exchange
	}
	return slices.ContainsFunc(slices.Concat(s.Topology.Bindings, q.Topology.Bindings), func(b RabbitMQBinding) bool {
		return b.Exchange == q.Exchange && b.Queue == s.Queue && (q.RoutingKey == b.RoutingKey || q.RoutingKey == "{topic}" || b.RoutingKey == "#")
	})
}

// Echoes implements config.Echoing: a message has the topic, or the name of the stream, that it
// came from, behind the prefix.
func (d *Redis) Echoes(from config.Settings) bool {
	s, is := from.(*RedisSource)
	if !is || d.Fence || !d.sameServer(&s.Address) {
		return false
	}
	return len(s.Topics) > 0 && d.Prefix == s.Prefix && d.Shards == s.Shards || len(s.Streams) > 0 && d.Prefix == "" && d.Shards <= 1
}

// Echoes implements config.Echoing: by default a message goes to the topic that it came from.
func (m *MQTT) Echoes(from config.Settings) bool {
	s, is := from.(*MQTTSource)
	return is && (m.Topic == "{topic}" || slices.Contains(s.Filters, m.Topic)) && m.sameServer(&s.Address)
}
