package mqttbroker

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
)

// Login says how Dial and OpenSource make their connections. The zero Login uses what the URLs
// hold. None of it but ClientID is ever logged or part of an error.
type Login struct {
	// User and Password, where the broker asks for them; in place of those in a URL.
	User, Password string
	// TLS, where set, is used with each broker. Defaults to TLS with the system's
	// roots where the URLs say mqtts://.
	TLS *tls.Config
	// ClientID is the name of the connection at the broker, which ends another
	// connection of that name: two programs must not share one. The one that loses its
	// connection says so (Misconfigured), and connects again after a pause of 1 s, and
	// of up to a minute while it goes on. Defaults to postbag- and random text, new for
	// each destination. A source must have one: it names the session.
	ClientID string
}

// validate returns every fault of the login, which is a field of the options named.
func (l Login) validate(options string) []error {
	var faults []error
	for name, text := range map[string]string{"User": l.User, "ClientID": l.ClientID} {
		if reason := badText(text); reason != "" {
			faults = append(faults, errors.New("mqttbroker: "+options+".Login."+name+" "+reason+"; use plain text"))
		}
	}
	if len(l.Password) > maxText {
		faults = append(faults, errors.New("mqttbroker: "+options+".Login.Password is longer than 65535 bytes; use a shorter one"))
	}
	return faults
}

func newClientID() string { return "postbag-" + rand.Text() }
