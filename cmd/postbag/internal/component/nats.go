package component

import (
	"context"
	"errors"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/natsbroker"
)

func openNATS(ctx context.Context, d *config.Destination, url string, _ *console.Console, dry bool) (broker.Destination, error) {
	o := natsbroker.Options{
		Stream: d.Stream, Prefix: d.Prefix, MaxPending: d.MaxPending, PassHeaders: d.PassHeaders, Recheck: d.Recheck,
	}
	o.Login.Name = d.ClientName
	o.Login.CredentialsFile, o.Login.NKeyFile = d.CredentialsFile, d.NKeyFile
	errs := []error{login(d, &o.Login.User, &o.Login.Password, &o.Login.TLS)}
	either(d.TokenEnv, d.TokenFile, &o.Login.Token, &errs)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if dry {
		return nil, errors.Join(o.Validate(), natsbroker.ValidURLs(url))
	}
	return natsbroker.Dial(ctx, url, o)
}
