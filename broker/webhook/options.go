package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/httpfield"
)

const (
	defaultTimeout       = 30 * time.Second
	defaultMaxRetryAfter = time.Hour
	defaultConcurrency   = 64
	defaultContentType   = "application/json"
)

// Options say where and how messages are sent. Only Secrets and one of URL and
// URLFor are required.
type Options struct {
	// URL takes every message: http or https, no fragment. A user and password
	// in it are sent as Basic authorization. Over http everything but the
	// signature's secret is readable on the way.
	URL string
	// URLFor returns the URL of one message, in place of URL. It must be quick,
	// and must not keep or change the delivery. An error in it is Misconfigured
	// unless it carries a broker.Error with another outcome than
	// Accepted and Unknown; its text is shown to operators, unless it
	// is a *url.Error, which quotes the URL. What goes wrong at an endpoint
	// holds for the message's topic: let no topic have two of them.
	URLFor func(broker.Delivery) (string, error)
	// Secrets sign each message: "whsec_" and 24 to 64 bytes in base64, as
	// NewSecret makes them. All of them sign, so that a receiver may know the old
	// or the new one while they are changed. At least one is required.
	Secrets []string
	// ContentType of the payloads. A message's own header Content-Type, in any
	// case, goes before it. Defaults to "application/json".
	ContentType string
	// Header is added to each request, such as an Authorization. Names that the
	// protocol or the package needs are refused.
	Header http.Header
	// Timeout bounds one request from connecting to the answer's header.
	// Defaults to 30 s.
	Timeout time.Duration
	// MaxRetryAfter bounds the Retry-After that an endpoint asks for. Defaults to
	// 1 h.
	MaxRetryAfter time.Duration
	// Concurrency is the most requests under way at a time; others wait for
	// their turn. Defaults to 64.
	Concurrency int
	// AllowPrivate lists what may be connected to beside public addresses. A
	// prefix is allowed whole. Zero: nothing private, loopback, link-local,
	// shared, translated or reserved is ever connected to.
	AllowPrivate []netip.Prefix
	// Proxy is the URL of an egress proxy: http, https or socks5. The proxy then
	// resolves names and must itself keep requests from private addresses; here
	// only addresses written in a URL are still checked. The proxy's own address
	// may be private. Zero: none; the environment's proxy variables are never
	// read.
	Proxy string
	// RootCAs verify the endpoints' certificates. Defaults to the system's.
	RootCAs *x509.CertPool
	// Certificates are presented to endpoints that ask for one.
	Certificates []tls.Certificate
	// Classify may change the outcome of an answer that StatusOutcome does not take
	// for Accepted; no other is shown to it. It may read up to 64 KiB of the body and
	// need not close it. Defaults to none.
	Classify func(*http.Response) broker.Class

	// now and resolver are replaced in tests.
	now      func() time.Time
	resolver *net.Resolver
}

// settings are Options that were found good, with defaults filled in.
type settings struct {
	Options

	target *target // nil if URLFor is set
	keys   []key
	proxy  *url.URL // nil if there is none
}

// Validate returns every fault of the options, joined, or nil. It does no I/O; New does the
// same first.
func (o Options) Validate() error {
	_, err := o.resolve()
	return err
}

// resolve checks all options and fills in defaults. It returns every fault.
func (o Options) resolve() (settings, error) {
	s := settings{Options: o}
	s.AllowPrivate, s.Certificates = slices.Clone(o.AllowPrivate), slices.Clone(o.Certificates)
	faults := slices.Concat(s.checkTarget(), s.checkSecrets(), s.checkHeader(), s.checkNumbers(), s.checkNetwork())
	if len(faults) > 0 {
		return settings{}, fmt.Errorf("webhook: %w", errors.Join(faults...))
	}
	return s, nil
}

func (s *settings) checkTarget() []error {
	switch {
	case s.URL == "" && s.URLFor == nil:
		return []error{errors.New("there is no URL; set Options.URL or Options.URLFor")}
	case s.URL != "" && s.URLFor != nil:
		return []error{errors.New("both Options.URL and Options.URLFor are set; keep one")}
	case s.URLFor != nil:
		return nil
	}
	t, err := parseTarget(s.URL, s.AllowPrivate)
	if err != nil {
		return []error{fmt.Errorf("Options.URL: %w", err)}
	}
	s.target = t
	return nil
}

func (s *settings) checkSecrets() []error {
	if len(s.Secrets) == 0 {
		return []error{errors.New("there is no secret; make one with webhook.NewSecret and give it to the receiver too")}
	}
	keys, err := parseSecrets(s.Secrets)
	if err != nil {
		return []error{err}
	}
	s.keys = keys
	return nil
}

func (s *settings) checkHeader() (faults []error) {
	if s.ContentType == "" {
		s.ContentType = defaultContentType
	}
	if !httpfield.Verbatim(s.ContentType) {
		faults = append(faults, errors.New("Options.ContentType is not visible ASCII; write it as application/json is written"))
	}
	header := make(http.Header, len(s.Header))
	for name, values := range s.Header {
		for _, value := range values {
			header.Add(name, value)
		}
		if !httpfield.IsToken(name) {
			faults = append(faults, fmt.Errorf("name %q in Options.Header is not an HTTP token; use letters, digits and hyphens", name))
		} else if ours(name) || httpfield.Framing(name) {
			faults = append(faults, fmt.Errorf("%s in Options.Header is set by Postbag or by HTTP itself; leave it out", name))
		}
		for _, value := range values {
			if !httpfield.Verbatim(value) {
				faults = append(faults, fmt.Errorf("a value of %q in Options.Header is empty or not visible ASCII; encode it first", name))
			}
		}
	}
	s.Header = header
	return faults
}

func (s *settings) checkNumbers() (faults []error) {
	if s.Timeout < 0 || s.MaxRetryAfter < 0 || s.Concurrency < 0 {
		faults = append(faults, errors.New("a negative Options.Timeout, Options.MaxRetryAfter or Options.Concurrency; leave it zero for the default"))
	}
	if s.Timeout == 0 {
		s.Timeout = defaultTimeout
	}
	if s.MaxRetryAfter == 0 {
		s.MaxRetryAfter = defaultMaxRetryAfter
	}
	if s.Concurrency == 0 {
		s.Concurrency = defaultConcurrency
	}
	if s.now == nil {
		s.now = time.Now
	}
	return faults
}

func (s *settings) checkNetwork() (faults []error) {
	for _, p := range s.AllowPrivate {
		if !p.IsValid() || p.Addr().Is4In6() {
			faults = append(faults, fmt.Errorf("Options.AllowPrivate: %v is not a prefix that can match; write 10.0.0.0/8 or fd00::/8", p))
		}
	}
	if s.Proxy == "" {
		return faults
	}
	u, err := url.Parse(s.Proxy)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
		return append(faults, errors.New("Options.Proxy is not the URL of a proxy; write it as http://proxy.example:3128, or with https or socks5"))
	}
	s.proxy = u
	return faults
}
