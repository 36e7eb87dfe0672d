package component

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// OpenDestination opens the destination d, whose name is only for messages.
func OpenDestination(ctx context.Context, name string, d config.Destination, c *console.Console) (broker.Destination, error) {
	to, err := destination(ctx, &d, c, false)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("destination %s: %w", name, err))
	}
	return to, nil
}

// CheckDestination looks whether d could be opened: that its secrets are there
// and its settings fit. It talks to no server.
func CheckDestination(ctx context.Context, d config.Destination) error {
	_, err := destination(ctx, &d, nil, true)
	return err
}

func destination(ctx context.Context, d *config.Destination, c *console.Console, dry bool) (broker.Destination, error) {
	url := d.URL
	if url == "" {
		var err error
		if url, err = config.FromEither(d.URLEnv, d.URLFile); err != nil {
			return nil, err
		}
	}
	kind, mistake := Kinds().DestinationKind(d.Kind, url)
	if kind == nil {
		return nil, fmt.Errorf("the URL %s", mistake)
	}
	if unfit := d.Unfit(kind); len(unfit) > 0 {
		return nil, fmt.Errorf("%s: no setting of a destination of kind %s; leave it out", strings.Join(unfit, ", "), kind.Name)
	}
	for _, k := range destinationKinds() {
		if k.Name == kind.Name {
			return k.open(ctx, d, url, c, dry)
		}
	}
	return nil, fmt.Errorf("this program holds no destination of kind %s; see postbag version --components", kind.Name)
}

// either reads a setting from the environment or a file into to, and adds what
// is wrong to errs.
func either(env, file string, to *string, errs *[]error) {
	value, err := config.FromEither(env, file)
	if err != nil {
		*errs = append(*errs, err)
	}
	*to = value
}

// login reads what a destination's client logs in with: the user, the password, and
// TLS, which is nil where nothing asks for settings of its own.
func login(d *config.Destination, user, password *string, secure **tls.Config) error {
	var errs []error
	either(d.UserEnv, "", user, &errs)
	either(d.PasswordEnv, d.PasswordFile, password, &errs)
	var err error
	*secure, err = tlsConfig(d)
	return errors.Join(append(errs, err)...)
}

// authorities reads certificates to trust; nil without a file.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // nil means the system's own
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, errors.New("ca_file cannot be read; name a PEM file that this user may read")
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("ca_file holds no certificate; name a PEM file with certificates")
	}
	return pool, nil
}

// tlsConfig trusts the authorities of ca_file alone and shows the client's certificate; nil where neither is set.
func tlsConfig(d *config.Destination) (*tls.Config, error) {
	pool, err := authorities(d.CAFile)
	if err != nil {
		return nil, err
	}
	if (d.CertFile == "") != (d.KeyFile == "") {
		return nil, errors.New("only one of cert_file and key_file is set; set both, or neither")
	}
	if pool == nil && d.CertFile == "" {
		return nil, nil //nolint:nilnil // nothing was asked for
	}
	c := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if d.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(d.CertFile, d.KeyFile)
		if err != nil {
			return nil, errors.New("cert_file and key_file cannot be read, or do not fit together; name PEM files of one certificate and its key")
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
