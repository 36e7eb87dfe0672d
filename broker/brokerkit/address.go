package brokerkit

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// URLs describes the list of URLs that a Dial takes: one URL, or several with commas
// between.
type URLs struct {
	Adapter Adapter
	// Example is how to write one, in errors.
	Example string
	// Schemes are the known schemes.
	Schemes []string
	// Default is the scheme of a URL that has none. Empty: each must have one.
	Default string
}

// Each calls use with each URL of a list. use returns what is wrong with the URL, such as
// "has a path", or nothing. The error names all that is wrong. It never quotes a URL,
// because a URL may hold a password.
func (l URLs) Each(list string, use func(u *url.URL) (fault string)) error {
	var faults []error
	for i, text := range strings.Split(list, ",") {
		u, fault := l.parse(strings.TrimSpace(text))
		if fault == "" {
			fault = use(u)
		}
		if fault != "" {
			faults = append(faults, fmt.Errorf("%s: URL %d %s; write it as %s", string(l.Adapter), i+1, fault, l.Example))
		}
	}
	return errors.Join(faults...)
}

func (l URLs) parse(text string) (u *url.URL, fault string) {
	if text == "" {
		return nil, "is empty"
	}
	if l.Default != "" && !strings.Contains(text, "://") {
		text = l.Default + "://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, "cannot be read"
	}
	known := false
	for _, scheme := range l.Schemes {
		known = known || u.Scheme == scheme
	}
	switch {
	case !known:
		return nil, "has a scheme that is not " + either(l.Schemes)
	case u.Hostname() == "":
		return nil, "names no host"
	case u.Port() != "" && BadPort(u.Port()):
		return nil, faultPort
	}
	return u, ""
}

const faultPort = "has a port that is not between 1 and 65535"

// either is "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// HostPort returns host and port of a URL. If the URL names no port, the port is usual.
func HostPort(u *url.URL, usual int) string {
	port := u.Port()
	if port == "" {
		port = strconv.Itoa(usual)
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// BadPort says whether text is not the number of a port.
func BadPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err != nil || port == 0
}

// Addresses reads a list of hosts with ports, with commas between. The error names all
// that is wrong, such as "broker 2 is empty".
func (a Adapter) Addresses(list, what, example string) ([]string, error) {
	var faults []error
	all := strings.Split(list, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
		if fault := badAddress(all[i]); fault != "" {
			faults = append(faults, fmt.Errorf("%s: %s %d %s; write it as %s", string(a), what, i+1, fault, example))
		}
	}
	return all, errors.Join(faults...)
}

func badAddress(text string) string {
	host, port, err := net.SplitHostPort(text)
	switch {
	case text == "":
		return "is empty"
	case strings.Contains(text, "://"):
		return "is a URL"
	case err != nil:
		return "has no port, or cannot be read"
	case host == "":
		return "names no host"
	case BadPort(port):
		return faultPort
	}
	return ""
}

// ClientTLS returns the TLS configuration for a host. That is a copy of given, which
// verifies the host's name unless given names another one. If nothing was given and a URL
// asks for TLS, it is a configuration that trusts the system's roots. Nil: no TLS.
// ClientTLS does not change given.
func ClientTLS(given *tls.Config, asked bool, host string) *tls.Config {
	switch {
	case given == nil && !asked:
		return nil
	case given == nil:
		return &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	}
	config := given.Clone()
	if config.ServerName == "" {
		config.ServerName = host
	}
	return config
}
