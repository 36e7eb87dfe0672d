package component

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// MQTTConnection is how a client of MQTT reaches its broker.
type MQTTConnection struct {
	Connection

	// How long a connection may be silent before the broker is asked for a sign of life.
	KeepAlive time.Duration `yaml:"keep_alive" range:"1s..18h" default:"10s"`
}

// MQTT is a destination behind a broker of MQTT 5.
type MQTT struct {
	MQTTConnection

	// The name of the connection at the broker, which must be one relay's alone.
	ClientID string `yaml:"client_id" otherwise:"postbag- and random text"`
	// A template of the topic to publish to, of {topic}, {key}, {type} and {box}.
	Topic string `yaml:"topic" default:"{topic}"`
	// 1 (at least once) or 2.
	QoS int `yaml:"qos" default:"1"`
	// The broker keeps the last message of each topic for those who subscribe later.
	Retain bool `yaml:"retain" default:"false"`
	// Accept a message to which nobody subscribes, and which the broker drops. With false
	// its topic counts as misconfigured.
	Unheard bool `yaml:"unheard" default:"false"`
	// Most messages that are sent and not yet answered.
	MaxPending int `yaml:"max_pending" default:"4096"`
}

func (m *MQTT) open(ctx context.Context, _ *terminal.Terminal, dry bool) (broker.Destination, error) {
	o := mqttbroker.Options{
		Topic: m.Topic, QoS: m.QoS, Retain: m.Retain, Unheard: m.Unheard, MaxPending: m.MaxPending, KeepAlive: m.KeepAlive,
		Login: mqttbroker.Login{ClientID: m.ClientID},
	}
	url, err := m.Connection.open(&o.Login.User, &o.Login.Password, &o.Login.TLS)
	if err != nil {
		return nil, err
	}
	if dry {
		return nil, errors.Join(o.Validate(), mqttbroker.ValidURLs(url))
	}
	return mqttbroker.Dial(ctx, url, o)
}

// CheckTopic implements config.TopicChecker.
func (m *MQTT) CheckTopic(topic string) error {
	return mqttbroker.Options{Topic: m.Topic}.CheckTopic(topic)
}

// CheckHeaders implements config.HeaderChecker.
func (*MQTT) CheckHeaders(headers map[string]string) error { return mqttbroker.CheckHeaders(headers) }
