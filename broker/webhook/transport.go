package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	connectTimeout   = 10 * time.Second // one address's connect, and the TLS handshake
	idleTimeout      = 60 * time.Second
	continueTimeout  = time.Second
	pingAfter        = 15 * time.Second
	maxAnswerHeader  = 64 << 10
	keepAliveProbing = 30 * time.Second
)

// newDialer returns the dialer of all connections. With a proxy these go to the
// proxy, which the operator chose, so that addresses are not checked here.
func newDialer(s settings) *conns {
	d := &net.Dialer{Timeout: connectTimeout, KeepAlive: keepAliveProbing, Resolver: s.resolver}
	if s.proxy == nil {
		d.ControlContext = guard(s.AllowPrivate)
	}
	return &conns{dial: d.DialContext}
}

func newTLS(s settings) *tls.Config {
	return &tls.Config{RootCAs: s.RootCAs, Certificates: s.Certificates, MinVersion: tls.VersionTLS12}
}

// newTransport returns a client that keeps connections, speaks HTTP/2 where the
// endpoint does, and reads no environment. It is used without an http.Client:
// nothing follows redirects or keeps cookies.
func newTransport(s settings, d *conns) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	t := &http.Transport{
		DialContext:            d.DialContext,
		TLSClientConfig:        newTLS(s),
		Protocols:              &protocols,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
		TLSHandshakeTimeout:    connectTimeout,
		IdleConnTimeout:        idleTimeout,
		ExpectContinueTimeout:  continueTimeout,
		MaxIdleConns:           s.Concurrency,
		MaxIdleConnsPerHost:    s.Concurrency,
		MaxResponseHeaderBytes: maxAnswerHeader,
		DisableCompression:     true,
	}
	if s.proxy != nil {
		t.Proxy = http.ProxyURL(s.proxy)
		t.OnProxyConnectResponse = proxyAnswer
	}
	return t
}

// proxyError is a proxy's refusal to open a tunnel.
type proxyError struct{ status int }

func (e *proxyError) Error() string { return fmt.Sprintf("proxy answered %d", e.status) }

func proxyAnswer(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
	if r.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{status: r.StatusCode}
}
