package kafkabroker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Mechanisms of Login.
const (
	Plain       = "PLAIN"
	ScramSHA256 = "SCRAM-SHA-256"
	ScramSHA512 = "SCRAM-SHA-512"
)

// Login says how connections are made. The zero Login is plain TCP without a
// login. None of it is ever logged or part of an error.
type Login struct {
	// Mechanism of SASL: Plain, ScramSHA256 or ScramSHA512. Defaults to ScramSHA512
	// where there is a User. Plain sends the password as it is: use it with TLS.
	Mechanism string
	// User and Password, where the brokers ask for them.
	User, Password string
	// TLS, where set, is spoken, with the broker's host as the name to verify unless
	// it has one. Certificates in it are shown to brokers that ask (mutual TLS).
	// Defaults to none.
	TLS *tls.Config
	// Name is the client id, which the brokers' logs and quotas show. Defaults to
	// "postbag".
	Name string
	// Dial makes the TCP connections: a tunnel, a proxy. It is called from several
	// goroutines. Defaults to a net.Dialer with a limit of 2 s.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func (l Login) validate() []error {
	var faults []error
	switch l.Mechanism {
	case "", Plain, ScramSHA256, ScramSHA512:
	default:
		faults = append(faults, fmt.Errorf("kafkabroker: Options.Login.Mechanism %.32q is not known; use %s, %s or %s",
			l.Mechanism, Plain, ScramSHA256, ScramSHA512))
	}
	if (l.User == "") != (l.Password == "") {
		faults = append(faults, errors.New("kafkabroker: Options.Login has only one of User and Password; give both or neither"))
	}
	if l.Mechanism != "" && l.User == "" {
		faults = append(faults, errors.New("kafkabroker: Options.Login has a Mechanism and no User; give user and password too"))
	}
	return faults
}

// options are those of the client library for one client; seen hears of every
// attempt to connect.
func (l Login) options(seen *trouble) []kgo.Opt {
	options := []kgo.Opt{kgo.ClientID(l.Name), kgo.Dialer(l.dialer()), kgo.WithHooks(seen)}
	if l.User != "" {
		options = append(options, kgo.SASL(l.mechanism()))
	}
	return options
}

func (l Login) mechanism() sasl.Mechanism {
	switch l.Mechanism {
	case Plain:
		return plain.Auth{User: l.User, Pass: l.Password}.AsMechanism()
	case ScramSHA256:
		return scram.Auth{User: l.User, Pass: l.Password}.AsSha256Mechanism()
	default:
		return scram.Auth{User: l.User, Pass: l.Password}.AsSha512Mechanism()
	}
}
