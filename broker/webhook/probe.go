package webhook

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"

	"github.com/postbag/postbag/broker"
)

// Probe connects to the endpoint, with TLS for https, or to the proxy if there
// is one, and hangs up: no request is sent. So it tells a dead endpoint from one
// that listens. Only a message can show an overloaded one. With URLFor
// there is nothing to connect to before a message is there, and Probe returns nil.
// An error is a *broker.Error: Misconfigured for a certificate that does not
// verify and an address that is refused, else Unavailable.
func (d *Destination) Probe(ctx context.Context) error {
	if !d.calls.Enter() {
		return &broker.Error{Outcome: broker.Unavailable, Err: broker.ErrClosed}
	}
	defer d.calls.Leave()
	address, host := d.probed()
	if address == "" {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d.settings.Timeout, errTimeout)
	defer cancel()
	defer context.AfterFunc(d.ended, cancel)()
	err := d.connect(ctx, address, host)
	if err == nil {
		return nil
	}
	var p progress
	f := p.failure(err, context.Cause(ctx))
	if f.outcome != broker.Misconfigured {
		f.outcome = broker.Unavailable
	}
	return &broker.Error{Outcome: f.outcome, Err: f.result(d.origin()).Err}
}

// probed returns what to connect to, and the name that TLS verifies, if any.
func (d *Destination) probed() (address, host string) {
	switch {
	case d.settings.proxy != nil:
		u := d.settings.proxy
		if u.Scheme == "https" {
			host = u.Hostname()
		}
		return proxyAddress(u), host
	case d.settings.target == nil:
		return "", ""
	}
	if u := d.settings.target.url; u.Scheme == "https" {
		host = u.Hostname()
	}
	return d.settings.target.dial, host
}

func proxyAddress(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if port == "" {
		port = "1080" // SOCKS
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func (d *Destination) origin() string {
	if d.settings.proxy != nil {
		return "proxy " + d.settings.proxy.Host
	}
	return d.settings.target.origin
}

func (d *Destination) connect(ctx context.Context, address, host string) error {
	c, err := d.conns.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	// The connection has served its end; how closing goes changes nothing.
	defer func() { _ = c.Close() }()
	if host == "" {
		return nil
	}
	config := newTLS(d.settings)
	config.ServerName = host
	config.NextProtos = []string{"h2", "http/1.1"}
	return tls.Client(c, config).HandshakeContext(ctx)
}
