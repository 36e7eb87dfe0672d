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

// URLs says how the list of URLs is written that a Dial takes: one, or several with
// commas between.
type URLs struct {
	Adapter Adapter
	// Example is how to write one, in errors.
	Example string
	// Schemes are those that are known.
	Schemes []string
	// Default is the scheme of a URL that has none. Empty: each must have one.
	Default string
}

// Each gives each URL of a list to use, which says what is wrong with it, if anything
// is: "has a path". The error names all that is wrong, and never quotes a URL, which
// may hold a password.
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

// HostPort is host and port of a URL, or usual where it names no port.
func HostPort(u *url.URL, usual int) string {
	port := u.Port()
	if port == "" {
		port = strconv.Itoa(usual)
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// BadPort says whether text is no number of a port.
func BadPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err != nil || port == 0
}

// Addresses reads a list of hosts with ports, with commas between. The error names all
// that is wrong, each as "broker 2 is empty".
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

// ClientTLS is what to speak TLS with to a host: given, with the host as the name to
// verify unless it has one; or, where a URL asks for TLS and nothing was given, one
// that trusts the system's roots. Nil: no TLS. given is not changed.
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
