package component

import (
	"context"
	"errors"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/mqttbroker"
)

func openMQTT(ctx context.Context, d *config.Destination, url string, _ *console.Console, dry bool) (broker.Destination, error) {
	o := mqttbroker.Options{
		Topic: d.Topic, QoS: d.QoS, Retain: d.Retain, Unheard: d.Unheard, MaxPending: d.MaxPending, KeepAlive: d.KeepAlive,
		Login: mqttbroker.Login{ClientID: d.ClientID},
	}
	if err := login(d, &o.Login.User, &o.Login.Password, &o.Login.TLS); err != nil {
		return nil, err
	}
	if dry {
		return nil, errors.Join(o.Validate(), mqttbroker.ValidURLs(url))
	}
	return mqttbroker.Dial(ctx, url, o)
}
