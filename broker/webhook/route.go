package webhook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/postbag/postbag/broker"
)

// target is where a request goes.
type target struct {
	// url has no user and password.
	url *url.URL
	// authorization is what the user and password of the URL become; empty
	// without.
	authorization string
	// origin names the target in errors: scheme, host and port. Paths and queries
	// of webhooks hold tokens.
	origin string
	// dial is host:port for a connection.
	dial string
}

// parseTarget reads a URL and refuses what can be refused without resolving its
// name. Its errors do not quote the URL, which may hold secrets.
func parseTarget(raw string, allowed []netip.Prefix) (*target, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("it cannot be parsed; write it as https://receiver.example/path")
	}
	host := u.Hostname()
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("its scheme is neither https nor http; begin it with https://")
	case host == "" || u.Opaque != "":
		return nil, errors.New("it has no host; write it as https://receiver.example/path")
	case u.Fragment != "" || strings.HasSuffix(raw, "#"):
		return nil, errors.New("it has a fragment, which HTTP does not send; leave out what follows '#'")
	}
	port, err := portOf(u)
	if err != nil {
		return nil, err
	}
	if err := checkHost(host, allowed); err != nil {
		return nil, err
	}
	t := &target{
		url:    u,
		origin: u.Scheme + "://" + u.Host,
		dial:   net.JoinHostPort(host, port),
	}
	if u.User != nil {
		password, _ := u.User.Password()
		t.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
		u.User = nil
	}
	return t, nil
}

func portOf(u *url.URL) (string, error) {
	port := u.Port()
	if port == "" {
		if u.Scheme == "http" {
			return "80", nil
		}
		return "443", nil
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", errors.New("its port is not between 1 and 65535; correct it")
	}
	return port, nil
}

// checkHost refuses an address that may not be connected to, and a host that
// some resolvers read as an IPv4 address and others as a name, such as 0x7f.1 (by
// the rule of the WHATWG URL standard, "ends in a number").
func checkHost(host string, allowed []netip.Prefix) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		return checkAddr(addr, allowed)
	}
	switch {
	case strings.ContainsFunc(host, func(r rune) bool { return r > '~' }):
		return errors.New("its host is not ASCII; write it in its ASCII form, which begins with xn--")
	case strings.Contains(host, ":"):
		return errors.New("its host is not an IPv6 address; write it as [2001:db8::1]")
	case strings.ContainsFunc(host, func(r rune) bool { return !inName(r) }):
		return errors.New("its host has a character that no name has; use letters, digits, '-', '_' and '.'")
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := labels[len(labels)-1]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || onlyDigits(last) || hexNumber(last) {
		return errors.New("its host ends in a number but is not an address; write IPv4 addresses as 192.0.2.1")
	}
	return nil
}

func inName(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
}

func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func hexNumber(s string) bool {
	return len(s) >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && strings.Trim(s[2:], "0123456789abcdefABCDEF") == ""
}

// targetOf returns where m goes. Its error carries the outcome.
func (d *Destination) targetOf(m *broker.Delivery) (*target, error) {
	if d.settings.target != nil {
		return d.settings.target, nil
	}
	raw, err := d.settings.URLFor(*m)
	if err != nil {
		return nil, urlFault(err)
	}
	t, err := parseTarget(raw, d.settings.AllowPrivate)
	if err != nil {
		return nil, &broker.Error{Outcome: broker.Misconfigured, Scope: broker.ScopeTopic, Err: fmt.Errorf("webhook: URLFor returned a bad URL: %w", err)}
	}
	return t, nil
}

func urlFault(err error) error {
	outcome := broker.Misconfigured
	if known, ok := errors.AsType[*broker.Error](err); ok && known.Outcome != broker.Accepted && known.Outcome != broker.Unknown {
		// Nothing was sent, so that these two would not be true.
		outcome = known.Outcome
	}
	if _, quoting := errors.AsType[*url.Error](err); quoting {
		err = errors.New("it got a URL that cannot be parsed")
	}
	scope := broker.ScopeDestination
	if outcome == broker.Misconfigured || outcome == broker.Unavailable {
		scope = broker.ScopeTopic
	}
	return &broker.Error{Outcome: outcome, Scope: scope, Err: fmt.Errorf("webhook: URLFor found no URL: %w; see what it looks up", err)}
}
