package webhook

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

// authority signs certificates for one test.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, key: newKey(t)}
	raw := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}, a.key)
	cert, err := x509.ParseCertificate(raw.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	a.cert = cert
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) sign(c *x509.Certificate, key *ecdsa.PrivateKey) tls.Certificate {
	a.t.Helper()
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	parent := a.cert
	if parent == nil {
		parent = c
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// leaf is a certificate for 127.0.0.1, changed before it is signed.
func (a *authority) leaf(change func(*x509.Certificate)) tls.Certificate {
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: "leaf"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	if change != nil {
		change(c)
	}
	return a.sign(c, newKey(a.t))
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// withConfig starts a receiver over TLS with a configuration of its own.
func withConfig(t *testing.T, c *tls.Config) *receiver {
	t.Helper()
	r := newReceiver(nil)
	r.TLS = c
	r.EnableHTTP2 = true
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of each refused handshake
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func TestCertificatesAreVerified(t *testing.T) {
	t.Parallel()
	ours, stranger := newAuthority(t), newAuthority(t)
	cases := map[string]struct {
		cert    tls.Certificate
		outcome broker.Outcome
		says    string
	}{
		"a good one":        {ours.leaf(nil), broker.Accepted, ""},
		"a stranger's":      {stranger.leaf(nil), broker.Misconfigured, "unknown authority"},
		"for another name":  {ours.leaf(func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, []string{"other.test"} }), broker.Misconfigured, "IP SAN"},
		"an expired one":    {ours.leaf(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), broker.Misconfigured, "expired"},
		"for clients alone": {ours.leaf(func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[1:] }), broker.Misconfigured, "key usage"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withConfig(t, &tls.Config{Certificates: []tls.Certificate{c.cert}})
			o := options(s.URL)
			o.RootCAs = ours.pool()
			d := open(t, o)
			r := publish(t.Context(), d, sample())
			want(t, r, c.outcome)
			if err := d.Probe(t.Context()); broker.OutcomeOf(err) != c.outcome {
				t.Errorf("Probe: %v", err)
			}
			if c.outcome == broker.Accepted {
				return
			}
			if !strings.Contains(r.Err.Error(), c.says) {
				t.Errorf("the error says %q, not %q", r.Err, c.says)
			}
			if n := len(s.got(t)); n != 0 {
				t.Errorf("%d requests arrived", n)
			}
		})
	}
}

func TestTheSystemsAuthoritiesAreTheDefault(t *testing.T) {
	t.Parallel()
	s := withConfig(t, nil)
	r := publish(t.Context(), open(t, options(s.URL)), sample())
	want(t, r, broker.Misconfigured)
}

func TestClientCertificates(t *testing.T) {
	t.Parallel()
	ours, stranger := newAuthority(t), newAuthority(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		s := withConfig(t, &tls.Config{
			Certificates: []tls.Certificate{ours.leaf(nil)}, ClientCAs: ours.pool(),
			ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: version, MaxVersion: version,
		})
		for name, c := range map[string]struct {
			certs   []tls.Certificate
			outcome broker.Outcome
		}{
			"a good one":   {[]tls.Certificate{ours.leaf(nil)}, broker.Accepted},
			"none":         {nil, broker.Misconfigured},
			"a stranger's": {[]tls.Certificate{stranger.leaf(nil)}, broker.Misconfigured},
		} {
			t.Run(tls.VersionName(version)+", "+name, func(t *testing.T) {
				t.Parallel()
				o := options(s.URL)
				o.RootCAs, o.Certificates = ours.pool(), c.certs
				d := open(t, o)
				// In TLS 1.3 the refusal comes while the request is being written, and
				// now and then the broken connection is seen first.
				r := publish(t.Context(), d, sample())
				for n := 0; version == tls.VersionTLS13 && r.Outcome == broker.Unknown && n < 50; n++ {
					r = publish(t.Context(), d, sample())
				}
				want(t, r, c.outcome)
			})
		}
	}
}

func TestEndpointsWithoutTLSOrWithOldVersionsFail(t *testing.T) {
	t.Parallel()
	ours := newAuthority(t)
	old := withConfig(t, &tls.Config{Certificates: []tls.Certificate{ours.leaf(nil)}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	unencrypted := plain(t, nil)
	other := raw(t, func(_ *rawServer, c net.Conn) { _, _ = io.WriteString(c, "220 mail.example ESMTP\r\n") })
	hangup := raw(t, func(_ *rawServer, c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 50)) })
	for name, c := range map[string]struct {
		url     string
		outcome broker.Outcome
	}{
		"only old versions":  {old.URL, broker.Misconfigured},
		"no TLS but HTTP":    {strings.Replace(unencrypted.URL, "http:", "https:", 1), broker.Misconfigured},
		"no TLS but mail":    {"https://" + other.Addr().String(), broker.Misconfigured},
		"one that hangs up":  {"https://" + hangup.Addr().String(), broker.Unavailable},
		"TLS, asked without": {strings.Replace(old.URL, "https:", "http:", 1), broker.Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(c.url)
			o.RootCAs = ours.pool()
			want(t, publish(t.Context(), open(t, o), sample()), c.outcome)
		})
	}
}

// proxy is an egress proxy for CONNECT and plain requests.
func proxy(t *testing.T, refuse int) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var used atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		used.Add(1)
		if user, password, _ := parseProxyAuth(r); user != "joe" || password != "proxypass" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if refuse != 0 {
			w.WriteHeader(refuse)
			return
		}
		if r.Method != http.MethodConnect {
			r.RequestURI = ""
			direct := &http.Transport{}
			defer direct.CloseIdleConnections()
			answer, err := direct.RoundTrip(r)
			if err != nil {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			_ = answer.Body.Close()
			w.WriteHeader(answer.StatusCode)
			return
		}
		tunnel(t, w, r.Host)
	}))
	t.Cleanup(s.Close)
	return s, &used
}

func parseProxyAuth(r *http.Request) (string, string, bool) {
	copied := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	return copied.BasicAuth()
}

func tunnel(t *testing.T, w http.ResponseWriter, to string) {
	up, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	down, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(up, buffered)
		_ = up.Close()
		close(done)
	}()
	_, _ = io.Copy(down, bufio.NewReader(up))
	_ = down.Close()
	<-done
}

func TestAProxyIsUsedWhenItIsSet(t *testing.T) {
	t.Parallel()
	target, clearly := secure(t, true, nil), plain(t, nil)
	via := func(s *httptest.Server, user *url.Userinfo) string {
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		u.User = user
		return u.String()
	}
	good, _ := proxy(t, 0)
	denying, _ := proxy(t, http.StatusForbidden)
	failing, _ := proxy(t, http.StatusBadGateway)
	joe := url.UserPassword("joe", "proxypass")
	for name, c := range map[string]struct {
		url, proxy string
		outcome    broker.Outcome
	}{
		"https":                        {target.URL, via(good, joe), broker.Accepted},
		"http":                         {clearly.URL, via(good, joe), broker.Accepted},
		"without its password":         {target.URL, via(good, nil), broker.Misconfigured},
		"with a wrong password":        {target.URL, via(good, url.UserPassword("joe", "wrong")), broker.Misconfigured},
		"without its password on http": {clearly.URL, via(good, nil), broker.Misconfigured},
		"one that denies":              {target.URL, via(denying, joe), broker.Misconfigured},
		"one that cannot":              {target.URL, via(failing, joe), broker.Unavailable},
		"one that is not there":        {target.URL, "http://127.0.0.1:1", broker.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(c.url)
			o.RootCAs, o.Proxy = target.roots(), c.proxy
			d := open(t, o)
			r := publish(t.Context(), d, sample())
			want(t, r, c.outcome)
			if r.Err != nil && strings.Contains(r.Err.Error(), "pass") {
				t.Errorf("the error holds the password: %v", r.Err)
			}
			if err := d.Probe(t.Context()); (err == nil) == (name == "one that is not there") {
				t.Errorf("Probe: %v", err)
			}
		})
	}
}

func TestEveryRequestGoesThroughTheProxy(t *testing.T) {
	t.Parallel()
	for _, secured := range []bool{false, true} {
		s := plain(t, nil)
		o := options(s.URL)
		if secured {
			s = secure(t, true, nil)
			o.URL, o.RootCAs = s.URL, s.roots()
		}
		p, used := proxy(t, 0)
		o.Proxy = strings.Replace(p.URL, "http://", "http://joe:proxypass@", 1)
		want(t, publish(t.Context(), open(t, o), sample()), broker.Accepted)
		if used.Load() != 1 || len(s.got(t)) != 1 {
			t.Errorf("the proxy saw %d requests, the endpoint %d", used.Load(), len(s.got(t)))
		}
	}
}

func TestAnAddressInTheURLIsCheckedBeforeTheProxy(t *testing.T) {
	t.Parallel()
	_, err := New(Options{URL: "http://169.254.169.254/", Secrets: []string{secretA}, Proxy: "http://127.0.0.1:1"})
	if err == nil || !strings.Contains(err.Error(), "link-local") {
		t.Errorf("got %v", err)
	}
}

func TestTheEnvironmentsProxyIsIgnored(t *testing.T) {
	t.Parallel()
	// net/http reads the environment once a process, so that setting it here would
	// prove nothing.
	if open(t, options("http://127.0.0.1:1")).transport.Proxy != nil {
		t.Error("the client asks for a proxy")
	}
}
