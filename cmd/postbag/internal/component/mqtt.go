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

	// The name of the connection at the broker, which must be one relay's alone.
	// Defaults to postbag- and random text.
	ClientID string `yaml:"client_id"`
	// How long a connection may be silent before the broker is asked for a sign of
	// life. Defaults to 10s.
	KeepAlive time.Duration `yaml:"keep_alive" range:"1s..18h"`
}

// MQTT is a destination behind a broker of MQTT 5.
type MQTT struct {
	MQTTConnection

	// A template of the topic to publish to, of {topic}, {key}, {type} and {box}.
	// Defaults to {topic}.
	Topic string `yaml:"topic"`
	// 1 (at least once) or 2. Defaults to 1.
	QoS int `yaml:"qos"`
	// The broker keeps the last message of each topic for those who subscribe later.
	// Defaults to false.
	Retain bool `yaml:"retain"`
	// Accept a message to which nobody subscribes, and which the broker drops. Defaults
	// to false: its topic counts as misconfigured.
	Unheard bool `yaml:"unheard"`
	// Most messages that are sent and not yet answered. Defaults to 4096.
	MaxPending int `yaml:"max_pending"`
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
