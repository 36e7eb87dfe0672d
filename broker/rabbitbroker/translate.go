package rabbitbroker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
)

// translateDial gives the failure of an attempt to connect its outcome.
func translateDial(err error) *broker.Error {
	if why, ok := errors.AsType[*amqp.Error](err); ok {
		return translateHandshake(why)
	}
	if badTLS(err) {
		return failure(broker.Misconfigured, "TLS with the server fails ("+err.Error()+")", "check certificates, host name and port")
	}
	return failure(broker.Unavailable, "the server cannot be reached", "wait, or look whether it runs")
}

// badTLS says whether a handshake failed for its own sake, not the network's.
func badTLS(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	return verification || alert || noTLS || authority || name
}

// translateHandshake is for what the server said, or the client made of its
// silence.
func translateHandshake(why *amqp.Error) *broker.Error {
	switch {
	case why == amqp.ErrSASL:
		return failure(broker.Misconfigured, "the server does not know this way to log in", "allow PLAIN or EXTERNAL on the server, as Options.Login asks for")
	case !why.Server && strings.Contains(why.Reason, "remote error: tls:"):
		return failure(broker.Misconfigured, "the server refuses the client's certificate ("+why.Reason+")", "give one that it trusts in Options.Login.TLS")
	case !why.Server:
		return failure(broker.Unavailable, "the server cannot be reached", "wait, or look whether it runs")
	case why.Code == amqp.AccessRefused:
		return failure(broker.Misconfigured, "the server refuses the login ("+codeName(why)+")", "check user and password")
	case why.Code == amqp.NotAllowed && strings.Contains(why.Reason, "limit"):
		return failure(broker.Unavailable, "the server takes no more connections ("+codeName(why)+")", "wait, or raise its limit")
	case why.Code == amqp.NotAllowed, why.Code == amqp.NotFound, why.Code == amqp.InvalidPath:
		return failure(broker.Misconfigured, "the virtual host does not exist, or is not this user's ("+codeName(why)+")",
			"create it, or grant the user a permission there")
	}
	return failure(broker.Unavailable, "the server ends the connection ("+codeName(why)+")", "wait, or look at the server's log")
}

// translateTopology is for declarations that failed.
func translateTopology(err error) *broker.Error {
	why, ok := errors.AsType[*amqp.Error](err)
	if !ok || !why.Server {
		return failure(broker.Unavailable, "the connection was lost while Options.Topology was declared", "wait, or look whether the server runs")
	}
	what := "Options.Topology cannot be declared (" + codeName(why) + ")"
	switch why.Code {
	case amqp.AccessRefused:
		return failure(broker.Misconfigured, what, "grant the user permission to configure, or leave the declaration to somebody else")
	case amqp.PreconditionFailed:
		return failure(broker.Misconfigured, what, "make it the same as what exists")
	case amqp.NotFound, amqp.ResourceLocked, amqp.CommandInvalid, amqp.NotAllowed, amqp.NotImplemented, amqp.SyntaxError:
		return failure(broker.Misconfigured, what, "fix it; the server's log says more")
	}
	return failure(broker.Unavailable, what, "wait, or look at the server's log")
}
