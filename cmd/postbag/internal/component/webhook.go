package component

import (
	"context"
	"errors"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
)

func openWebhook(ctx context.Context, d *config.Destination, url string, _ *console.Console, dry bool) (broker.Destination, error) {
	o := webhook.Options{URL: url, Timeout: d.Timeout, AllowPrivate: d.AllowPrivate, ContentType: d.ContentType}
	var errs []error
	read := func(env, file string) {
		var secret string
		either(env, file, &secret, &errs)
		o.Secrets = append(o.Secrets, secret)
	}
	for _, name := range d.SecretsEnv {
		read(name, "")
	}
	for _, path := range d.SecretsFile {
		read("", path)
	}
	if len(o.Secrets) == 0 {
		errs = append(errs, errors.New("there is no signing secret; name one with secrets_env or secrets_file"))
	}
	var err error
	o.RootCAs, err = authorities(d.CAFile)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	to, err := webhook.New(o)
	if err != nil {
		return nil, err
	}
	if dry {
		return nil, to.Close(ctx)
	}
	return to, nil
}
