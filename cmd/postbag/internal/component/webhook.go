package component

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// Webhook is a destination over HTTP, by Standard Webhooks.
type Webhook struct {
	Address

	// Variables that hold signing secrets (whsec_...); all of them sign, so that
	// one can be changed for another. One, here or in secrets_file, is required.
	SecretsEnv []string `yaml:"secrets_env"`
	// Files that hold signing secrets.
	SecretsFile []string `yaml:"secrets_file"`
	// Content type of the payloads.
	ContentType string `yaml:"content_type" default:"application/json"`
	// Private addresses that may be connected to, such as [10.0.0.0/8].
	AllowPrivate []netip.Prefix `yaml:"allow_private" otherwise:"none"`
	// The longest wait for an answer.
	Timeout time.Duration `yaml:"timeout" range:"1ms..1h" default:"30s"`
	// Certificate authorities to trust, PEM.
	CAFile string `yaml:"ca_file" otherwise:"the system's"`
}

func (w *Webhook) open(ctx context.Context, _ *terminal.Terminal, dry bool) (broker.Destination, error) {
	url, err := w.read()
	if err != nil {
		return nil, err
	}
	o := webhook.Options{URL: url, Timeout: w.Timeout, AllowPrivate: w.AllowPrivate, ContentType: w.ContentType}
	var wrong error
	o.Secrets, wrong = secretsOf(w.SecretsEnv, w.SecretsFile)
	o.RootCAs, err = authorities(w.CAFile)
	if err := errors.Join(wrong, err); err != nil {
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

// secretsOf reads signing secrets: one at least.
func secretsOf(variables, files []string) (secrets []string, err error) {
	var errs []error
	read := func(env, file string) {
		var secret string
		either(env, file, &secret, &errs)
		secrets = append(secrets, secret)
	}
	for _, name := range variables {
		read(name, "")
	}
	for _, path := range files {
		read("", path)
	}
	if len(secrets) == 0 {
		errs = append(errs, errors.New("there is no signing secret; name one with secrets_env or secrets_file"))
	}
	return secrets, errors.Join(errs...)
}
