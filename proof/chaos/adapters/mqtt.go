package adapters

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
)

// MQTT is a topic of Mosquitto with mqttbroker. Such a broker has nothing but what it keeps for those who subscribe, so the reader is a
// subscriber whose session outlives its connections.
type MQTT struct{}

const (
	mqttTopic    = "events"
	mqttBranch   = "branch"
	mqttMaxBytes = 64 << 10
	mqttRelay    = "relay"
	mqttReader   = "reader"
	mqttPassword = "word-of-the-harness"
)

// Name implements chaos.Broker.
func (MQTT) Name() string { return "mqtt" }

// Open implements chaos.Broker.
func (MQTT) Open(ctx context.Context, dsn string) (broker.Destination, error) {
	return mqttbroker.Dial(ctx, dsn, mqttbroker.Options{})
}

// Poison implements chaos.Broker: the broker takes no packet of that size.
func (MQTT) Poison(m *postbag.Message) bool {
	m.Payload = append(m.Payload, strings.Repeat(" ", 2*mqttMaxBytes)...)
	return true
}

// mqttPlace is a started broker with a subscriber.
type mqttPlace struct {
	*mqttSubscriber

	server *testserver.Mosquitto
	disk   *testserver.Tmpfs
	wire   *chaos.Wire
	data   string // where it saves what it keeps
}

// Start implements chaos.Broker.
func (MQTT) Start(ctx context.Context, t chaos.Terms) (_ chaos.Place, err error) {
	p := &mqttPlace{data: t.Dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if p.disk, err = smallDisk(ctx, t); err != nil {
		return nil, err
	}
	if p.disk != nil {
		p.data = p.disk.Dir()
	}
	p.server, err = testserver.StartMosquitto(ctx, testserver.MosquittoOptions{
		Users:    map[string]string{mqttRelay: mqttPassword, mqttReader: mqttPassword},
		Settings: map[string]string{"persistence_location": p.data + "/", "max_packet_size": "65536"},
	})
	if err != nil {
		return nil, err
	}
	if p.wire, err = chaos.NewWire(p.server.Addr()); err != nil {
		return nil, err
	}
	p.mqttSubscriber, err = subscribe(ctx, p.server.Addr())
	return p, err
}

// Version implements chaos.Place.
func (*mqttPlace) Version() string { return "Mosquitto" }

// DSN implements chaos.Place.
func (p *mqttPlace) DSN() string {
	u := url.URL{Scheme: "mqtt", Host: p.wire.Addr(), User: url.UserPassword(mqttRelay, mqttPassword)}
	return u.String()
}

// Topic implements chaos.Place.
func (*mqttPlace) Topic() string { return mqttTopic }

// Branch implements chaos.Branched.
func (*mqttPlace) Branch() string { return mqttBranch }

// Close implements chaos.Place.
func (p *mqttPlace) Close() error {
	if p.mqttSubscriber != nil {
		p.end()
	}
	return errors.Join(closed(p.wire), closed(p.server), closed(p.disk))
}

// saved is the file of what the broker keeps.
func (p *mqttPlace) saved() string { return filepath.Join(p.data, "mosquitto.db") }
