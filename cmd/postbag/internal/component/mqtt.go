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
	var errs []error
	either(d.UserEnv, "", &o.Login.User, &errs)
	either(d.PasswordEnv, d.PasswordFile, &o.Login.Password, &errs)
	tls, err := tlsConfig(d)
	o.Login.TLS = tls
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	if dry {
		return nil, errors.Join(o.Validate(), mqttbroker.ValidURLs(url))
	}
	return mqttbroker.Dial(ctx, url, o)
}
