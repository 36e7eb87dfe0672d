package rabbitbroker

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// host is one of the servers, and how its URL says to log in.
type host struct {
	name, vhost    string
	port           int
	tls            bool
	user, password string
}

// ValidURLs says whether Dial could use urls, without trying it. An error names all
// that is wrong, and never quotes a URL, which may hold a password.
func ValidURLs(urls string) error {
	_, err := parseURLs(urls)
	return err
}

func parseURLs(urls string) ([]host, error) {
	var hosts []host
	var faults []error
	for i, text := range strings.Split(urls, ",") {
		h, reason := parseURL(strings.TrimSpace(text))
		if reason != "" {
			faults = append(faults, fmt.Errorf("rabbitbroker: URL %d %s; write it as amqp://user:password@host:5672/vhost", i+1, reason))
		}
		hosts = append(hosts, h)
	}
	return hosts, errors.Join(faults...)
}

func parseURL(text string) (h host, reason string) {
	if text == "" {
		return h, "is empty"
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return h, "cannot be read"
	case u.Scheme != "amqp" && u.Scheme != "amqps":
		return h, "has a scheme that is not amqp or amqps"
	case u.Hostname() == "":
		return h, "names no host"
	case badPort(u.Port()):
		return h, "has a port that is not between 1 and 65535"
	case u.RawQuery != "" || u.Fragment != "":
		return h, "has parameters, which belong into Options.Login"
	}
	parsed, err := amqp.ParseURI(text)
	if err != nil {
		return h, "cannot be read"
	}
	if len(parsed.Vhost) > maxShort {
		return h, "names a virtual host of more than 255 bytes"
	}
	return host{
		name: parsed.Host, port: parsed.Port, vhost: parsed.Vhost, tls: u.Scheme == "amqps",
		user: parsed.Username, password: parsed.Password,
	}, ""
}

// badPort says whether a port that is there is none.
func badPort(text string) bool {
	if text == "" {
		return false
	}
	port, err := strconv.ParseUint(text, 10, 16)
	return err != nil || port == 0
}
