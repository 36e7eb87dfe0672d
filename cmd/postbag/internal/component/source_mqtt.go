package component

import (
	"context"
	"time"

	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/source"
)

// MQTTSource takes messages from a broker of MQTT 5, by a session that the broker keeps.
type MQTTSource struct {
	MQTTConnection

	// The name of the session, which must be one process's alone. What is not acknowledged
	// comes again to the next source of this name. Required.
	ClientID string `yaml:"client_id"`
	// Topic filters to subscribe to, such as orders/+. Required.
	Filters []string `yaml:"filters"`
	// Share the messages with sources that name the same group. There is no order then.
	Group string `yaml:"group" otherwise:"none: this source gets every message, in sequence"`
	// 1 or 2: the most that a message comes with.
	QoS int `yaml:"qos" range:"1..2" default:"1"`
	// For how long the broker keeps the session while the source is away.
	SessionExpiry time.Duration `yaml:"session_expiry" range:"1s..876000h" default:"168h"`
	// Most messages that the broker sends and that are not acknowledged yet.
	MaxUnacked int `yaml:"max_unacked" range:"1..65535" default:"1000"`
	// Leave out what the broker retained before the subscription was made.
	NoRetained bool `yaml:"no_retained" default:"false"`
}

// Check implements config.Settings.
func (m *MQTTSource) Check(r config.Report) {
	m.MQTTConnection.Check(r)
	need(r, "client_id", m.ClientID, "name the session that the broker keeps for this source")
	if len(m.Filters) == 0 {
		r.Atf("", "has no filters; name topics to subscribe to, such as [orders/+]")
	}
}

func (m *MQTTSource) openSource(ctx context.Context, onFault func(error), dry bool) (source.Source, error) {
	o := mqttbroker.SourceOptions{
		Filters: m.Filters, Group: m.Group, QoS: m.QoS, SessionExpiry: m.SessionExpiry, MaxUnacked: m.MaxUnacked,
		NoRetained: m.NoRetained, KeepAlive: m.KeepAlive, OnFault: onFault, Login: mqttbroker.Login{ClientID: m.ClientID},
	}
	var err error
	if o.URL, err = m.Connection.open(&o.Login.User, &o.Login.Password, &o.Login.TLS); err != nil {
		return nil, err
	}
	if dry {
		return nil, o.Validate()
	}
	return mqttbroker.OpenSource(ctx, o)
}
