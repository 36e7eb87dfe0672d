package component

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

// Address says where a server is. One of url, url_env and url_file is required.
type Address struct {
	// The server's URL, without user, password and token.
	URL string `yaml:"url"`
	// The environment variable that holds the URL.
	URLEnv string `yaml:"url_env"`
	// The file that holds the URL.
	URLFile string `yaml:"url_file"`
}

// Check implements config.Settings.
func (a *Address) Check(r config.Report) {
	given := 0
	for _, place := range []string{a.URL, a.URLEnv, a.URLFile} {
		if place != "" {
			given++
		}
	}
	switch {
	case given == 0:
		r.Atf("", "has no URL; give one of url, url_env and url_file")
	case given > 1:
		r.Atf("", "names %d places for the URL; give one of url, url_env and url_file", given)
	}
	if config.HasCredential(a.URL) {
		r.Shownf("url", "holds a user, password or token; put the URL into the environment (url_env) or a file (url_file)")
	}
}

// read returns the URL, from wherever the configuration says.
func (a *Address) read() (string, error) {
	if a.URL != "" {
		return a.URL, nil
	}
	return config.FromEither(a.URLEnv, a.URLFile)
}

// Login is how a client proves who it is.
type Login struct {
	// The variable that holds the user.
	UserEnv string `yaml:"user_env"`
	// The variable that holds the password.
	PasswordEnv string `yaml:"password_env"`
	// The file that holds the password.
	PasswordFile string `yaml:"password_file"`
}

// TLS are the certificates of a connection.
type TLS struct {
	// Certificate authorities to trust, PEM; with it TLS is demanded.
	CAFile string `yaml:"ca_file" otherwise:"the system's, where the URL says TLS"`
	// The client's certificate, PEM, for servers that ask for one. New connections use a file
	// that has changed.
	CertFile string `yaml:"cert_file"`
	// The key of the client's certificate, PEM.
	KeyFile string `yaml:"key_file"`
}

// Connection is what clients of most servers take.
type Connection struct {
	Address
	Login
	TLS
}

// open reads what the settings name: the URL, the user, the password, and TLS, which is
// nil where nothing asks for settings of its own.
func (c *Connection) open(user, password *string, secure **tls.Config) (url string, err error) {
	var errs []error
	url, err = c.Address.read()
	errs = append(errs, err)
	either(c.UserEnv, "", user, &errs)
	either(c.PasswordEnv, c.PasswordFile, password, &errs)
	*secure, err = c.TLS.config()
	return url, errors.Join(append(errs, err)...)
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

// Authorities reads certificates to trust from a PEM file; nil without a file: those of the system.
func Authorities(file string) (*x509.CertPool, error) { return authorities(file) }

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

// config trusts the authorities of ca_file alone and shows the client's certificate; nil where neither is set.
func (t *TLS) config() (*tls.Config, error) {
	pool, err := authorities(t.CAFile)
	if err != nil {
		return nil, err
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		return nil, errors.New("only one of cert_file and key_file is set; set both, or neither")
	}
	if pool == nil && t.CertFile == "" {
		return nil, nil //nolint:nilnil // nothing was asked for
	}
	c := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if t.CertFile != "" {
		pair, err := newKeyPair(t.CertFile, t.KeyFile, func(error) {}) // the server says why it refuses the one of before
		if err != nil {
			return nil, err
		}
		c.GetClientCertificate = pair.client
	}
	return c, nil
}
