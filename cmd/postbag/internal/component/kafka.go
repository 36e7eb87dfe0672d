package component

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/kafkabroker"
)

func openKafka(ctx context.Context, d *config.Destination, url string, _ *console.Console, dry bool) (broker.Destination, error) {
	brokers := strings.TrimSuffix(strings.TrimPrefix(url, "kafka://"), "/")
	o := kafkabroker.Options{
		Prefix: d.Prefix, Compression: d.Compression, Linger: d.Linger, BatchBytes: d.BatchBytes, SendTime: d.SendTime, Recheck: d.Recheck,
		Login: kafkabroker.Login{Mechanism: d.Mechanism, Name: d.ClientName},
	}
	if c := d.Create; c != nil {
		o.Create = &kafkabroker.Create{Partitions: c.Partitions, Replicas: c.Replicas, Config: c.Config}
	}
	if x := d.Transactions; x != nil {
		o.Transactions = &kafkabroker.Transactions{Topic: x.Topic, Replicas: x.Replicas, Timeout: x.Timeout}
	}
	if err := login(d, &o.Login.User, &o.Login.Password, &o.Login.TLS); err != nil {
		return nil, err
	}
	if o.Login.TLS == nil && d.TLS {
		o.Login.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if dry {
		return nil, errors.Join(o.Validate(), kafkabroker.ValidBrokers(brokers))
	}
	return kafkabroker.Dial(ctx, brokers, o)
}
