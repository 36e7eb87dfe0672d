package component

import (
	"context"
	"errors"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/redisbroker"
)

func openRedis(ctx context.Context, d *config.Destination, url string, _ *console.Console, dry bool) (broker.Destination, error) {
	o := redisbroker.Options{
		Prefix: d.Prefix, Shards: d.Shards, Existing: d.Existing, Fence: d.Fence, Epoch: uint32(d.Epoch),
		Replicas: d.Replicas, ReplicaWait: d.ReplicaWait, MaxLen: int64(d.MaxLen), MaxAge: d.MaxAge, ExactTrim: d.ExactTrim, MaxBytes: d.MaxBytes,
		Login: redisbroker.Login{Primary: d.Primary, Cluster: d.Cluster, Name: d.ClientName},
	}
	errs := []error{login(d, &o.Login.User, &o.Login.Password, &o.Login.TLS)}
	either(d.SentinelUserEnv, "", &o.Login.SentinelUser, &errs)
	either(d.SentinelPasswordEnv, d.SentinelPasswordFile, &o.Login.SentinelPassword, &errs)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if dry {
		return nil, errors.Join(o.Validate(), redisbroker.ValidURLs(url))
	}
	redisbroker.SilenceClients() // standard error is the log's, which has what matters
	return redisbroker.Dial(ctx, url, o)
}
