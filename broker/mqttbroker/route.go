package mqttbroker

import (
	"fmt"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
)

// topic is where m goes.
func (o Options) topic(m *broker.Delivery) (topic string, f *broker.Error) {
	switch {
	case o.TopicOf != nil:
		if topic, f = adapter.Ask("Options.TopicOf", func() string { return o.TopicOf(*m) }); f != nil {
			return "", f
		}
	case o.Topic == defaultTopic:
		topic = m.Topic
	default:
		topic = strings.NewReplacer("{topic}", m.Topic, "{key}", level(m.Key), "{type}", level(m.Type), "{box}", m.Box).Replace(o.Topic)
	}
	if reason := badTopic(topic); reason != "" {
		return "", adapter.Failure(broker.Rejected, "the topic "+reason, "use one of levels with slashes between, such as orders/created")
	}
	return topic, nil
}

// CheckTopic implements [broker.TopicChecker].
func (d *Destination) CheckTopic(topic string) error { return d.options.CheckTopic(topic) }

// CheckTopic returns an error if nothing can be published to what the template makes of a topic,
// whatever the key and the type. Where TopicOf makes the topic, it returns nil.
func (o Options) CheckTopic(topic string) error {
	if o.TopicOf != nil {
		return nil
	}
	m := broker.Delivery{Message: postbag.Message{Topic: topic, Key: "x", Type: "x"}, Box: "x"}
	if _, f := o.withDefaults().topic(&m); f != nil {
		return f
	}
	return nil
}

// level makes text one level of a topic.
func level(text string) string {
	if !strings.ContainsAny(text, "/+#%") {
		return text
	}
	return strings.NewReplacer("%", "%25", "/", "%2F", "+", "%2B", "#", "%23").Replace(text)
}

// badTopic says why nothing can be published to topic, empty when it can: section
// 4.7 of MQTT 5.0, and that topics which begin with '$' are the broker's own.
func badTopic(topic string) string {
	switch {
	case topic == "":
		return "is empty"
	case topic[0] == '$':
		return "begins with $, as the broker's own do"
	case strings.ContainsAny(topic, "+#"):
		return "holds a wildcard, + or #"
	}
	return badText(topic)
}

// maxText is the longest text of MQTT, in bytes.
const maxText = 1<<16 - 1

// badText says why text cannot be carried as it is, empty when it can (section
// 1.5.4: UTF-8 without NUL; a broker may close the connection for other control
// characters and for what Unicode calls noncharacters).
func badText(text string) string {
	if len(text) > maxText {
		return fmt.Sprintf("has %d bytes, %d are allowed", len(text), maxText)
	}
	for i, r := range text {
		if !carried(text, i, r) {
			return "holds a control character, or is not UTF-8"
		}
	}
	return ""
}
