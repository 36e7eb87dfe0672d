package rabbitbroker

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// adapter is how errors begin.
const adapter = brokerkit.Adapter("rabbitbroker")

// translateDial gives the failure of an attempt to connect its outcome.
func translateDial(err error) *broker.Error {
	if why, ok := errors.AsType[*amqp.Error](err); ok {
		return translateHandshake(why)
	}
	if badTLS(err) {
		return adapter.Failure(broker.Misconfigured, "TLS with the server fails ("+err.Error()+")", "check certificates, host name and port")
	}
	return adapter.Failure(broker.Unavailable, "the server cannot be reached", "wait, or look whether it runs")
}

// badTLS says whether a handshake failed for its own sake, not the network's.
func badTLS(err error) bool {
	_, alert := errors.AsType[tls.AlertError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	return alert || noTLS || brokerkit.BadCertificate(err)
}

// translateHandshake is for what the server said, or the client made of its
// silence.
func translateHandshake(why *amqp.Error) *broker.Error {
	switch {
	case why == amqp.ErrSASL:
		return adapter.Failure(broker.Misconfigured, "the server does not know this way to log in", "allow PLAIN or EXTERNAL on the server, as Options.Login asks for")
	case !why.Server && strings.Contains(why.Reason, "remote error: tls:"):
		return adapter.Failure(broker.Misconfigured, "the server refuses the client's certificate ("+why.Reason+")", "give one that it trusts in Options.Login.TLS")
	case !why.Server:
		return adapter.Failure(broker.Unavailable, "the server cannot be reached", "wait, or look whether it runs")
	case why.Code == amqp.AccessRefused:
		return adapter.Failure(broker.Misconfigured, "the server refuses the login ("+codeName(why)+")", "check user and password")
	case why.Code == amqp.NotAllowed && strings.Contains(why.Reason, "limit"):
		return adapter.Failure(broker.Unavailable, "the server takes no more connections ("+codeName(why)+")", "wait, or raise its limit")
	case why.Code == amqp.NotAllowed, why.Code == amqp.NotFound, why.Code == amqp.InvalidPath:
		return adapter.Failure(broker.Misconfigured, "the virtual host does not exist, or is not this user's ("+codeName(why)+")",
			"create it, or grant the user a permission there")
	}
	return adapter.Failure(broker.Unavailable, "the server ends the connection ("+codeName(why)+")", "wait, or look at the server's log")
}

// translateTopology is for declarations that failed.
func translateTopology(err error) *broker.Error {
	why, ok := errors.AsType[*amqp.Error](err)
	if !ok || !why.Server {
		return adapter.Failure(broker.Unavailable, "the connection was lost while Options.Topology was declared", "wait, or look whether the server runs")
	}
	what := "Options.Topology cannot be declared (" + codeName(why) + ")"
	switch why.Code {
	case amqp.AccessRefused:
		return adapter.Failure(broker.Misconfigured, what, "grant the user permission to configure, or leave the declaration to somebody else")
	case amqp.PreconditionFailed:
		return adapter.Failure(broker.Misconfigured, what, "make it the same as what exists")
	case amqp.NotFound, amqp.ResourceLocked, amqp.CommandInvalid, amqp.NotAllowed, amqp.NotImplemented, amqp.SyntaxError:
		return adapter.Failure(broker.Misconfigured, what, "fix it; the server's log says more")
	}
	return adapter.Failure(broker.Unavailable, what, "wait, or look at the server's log")
}

// sizeLimit is what the server allows, where that is what it complains of:
// message size 2000000 is larger than configured max size 1000000.
func sizeLimit(why *amqp.Error) int {
	_, text, found := strings.Cut(why.Reason, "configured max size ")
	if why.Code != amqp.PreconditionFailed || !found {
		return 0
	}
	limit, err := strconv.Atoi(strings.TrimRight(text, ". "))
	if err != nil {
		return 0
	}
	return limit
}

// verdict is what the end of a channel means for the message that caused it.
func verdict(why *amqp.Error) *broker.Error {
	switch why.Code {
	case amqp.NotFound:
		return adapter.TopicFailure(broker.Misconfigured, "the exchange does not exist ("+codeName(why)+")",
			"create it, declare it with Options.Topology, or name another")
	case amqp.AccessRefused:
		return adapter.TopicFailure(broker.Misconfigured, "the server forbids this user to publish here ("+codeName(why)+")",
			"grant the permission to write to the exchange, and to the topic")
	case amqp.ResourceLocked, amqp.NotAllowed:
		return adapter.TopicFailure(broker.Misconfigured, "the server does not allow this user to publish here ("+codeName(why)+")",
			"look at the server's log")
	}
	if limit := sizeLimit(why); limit > 0 {
		return adapter.Failure(broker.Rejected, fmt.Sprintf("the payload is larger than the server allows (%d bytes)", limit),
			"send less, or raise max_message_size of the server")
	}
	return adapter.Failure(broker.Rejected, "the server closed the channel for the message ("+codeName(why)+")",
		"look at the server's log, and change the message or discard it")
}

// codeName is the server's code and its name; what follows in its words may hold a
// key or a header.
func codeName(why *amqp.Error) string {
	name, _, found := strings.Cut(why.Reason, " - ")
	if !found || len(name) > 40 {
		return strconv.Itoa(why.Code)
	}
	return fmt.Sprintf("%d %s", why.Code, name)
}
