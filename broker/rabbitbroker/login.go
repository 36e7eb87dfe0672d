package rabbitbroker

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

// Login says how Dial makes its connection. The zero Login uses what the URLs
// hold. None of it is ever logged or part of an error.
type Login struct {
	// User and Password, in place of those in the URLs.
	User, Password string
	// VHost is the virtual host, in place of the one in the URLs ("/" there, if they
	// name none).
	VHost string
	// External logs in by the client's certificate (SASL EXTERNAL), with the plugin
	// rabbitmq_auth_mechanism_ssl on the server. It needs TLS.
	External bool
	// TLS, where set, is demanded of the servers, whatever the URLs' scheme.
	// Defaults to TLS with the system's roots for amqps URLs, none for amqp.
	TLS *tls.Config
	// Name is what the server's connection list shows. Defaults to "postbag".
	Name string
	// Heartbeat is how often each side says that it lives; a server that is silent
	// for one and a half of it is given up. At least 1 s, in whole seconds, and the
	// server may ask for less. Defaults to 10 s.
	Heartbeat time.Duration
}

// validate returns every fault of the login that is in these options.
func (l Login) validate(options string) []error {
	var faults []error
	fault := func(text string) { faults = append(faults, errors.New("rabbitbroker: "+options+".Login."+text)) }
	if l.User == "" && l.Password != "" {
		fault("Password is set without User; name the user as well")
	}
	if l.External && l.User != "" {
		fault("External is set beside User; use one of them")
	}
	if l.External && l.TLS == nil {
		fault("External is set without TLS; give the client's certificate there")
	}
	if len(l.VHost) > maxShort {
		fault(fmt.Sprintf("VHost has %d bytes, AMQP allows %d; use a shorter one", len(l.VHost), maxShort))
	}
	if l.Heartbeat != 0 && l.Heartbeat < time.Second {
		fault(fmt.Sprintf("Heartbeat is %v; use at least 1 s, or zero for 10 s", l.Heartbeat))
	}
	return faults
}

// withDefaults fills what is zero.
func (l Login) withDefaults() Login {
	if l.Name == "" {
		l.Name = "postbag"
	}
	return l
}

// maxShort is the most bytes of a short string in AMQP: names, routing keys and
// the properties of a message.
const maxShort = 255
