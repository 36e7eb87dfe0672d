package rabbitbroker

import (
	"errors"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/source/sourcekit"
)

const doingKeep = "keep the position of"

// isExclusive says whether another consumer has a queue for itself.
func isExclusive(why *amqp.Error) bool {
	return why.Code == amqp.AccessRefused && strings.Contains(why.Reason, "exclusive use")
}

// streamFailure gives an error of a connection its class. One that has a class keeps it.
func (s *StreamSource) streamFailure(err error) error {
	if _, told := errors.AsType[*sourcekit.Error](err); told {
		return err
	}
	why, ok := errors.AsType[*amqp.Error](err)
	if !ok || !why.Server { // the client library gives errors of the system as they are
		return s.unavailable(doingFetch, "the connection was lost", "wait, or look whether the server runs")
	}
	name := codeName(why)
	switch {
	case why.Code == amqp.NotFound && strings.Contains(why.Reason, "is down"):
		return s.unavailable(doingFetch, "the server that has the stream is down ("+name+")", "start that server")
	case why.Code == amqp.NotFound:
		return s.misconfigured(doingFetch, "the stream does not exist ("+name+")", "create it, declare it with StreamOptions.Topology, or name another in StreamOptions.Stream")
	case why.Code == amqp.AccessRefused && strings.Contains(why.Reason, s.lock):
		return s.misconfigured(doingFetch, "the server forbids this user the queue "+s.lock+", which keeps other members of the group away ("+name+")",
			`grant the permissions to configure and to read queues that match ^postbag\.lock\.`)
	case why.Code == amqp.AccessRefused:
		return s.misconfigured(doingFetch, "the server forbids this user to read the stream ("+name+")", "grant the permission to read it")
	case why.Code == amqp.PreconditionFailed && strings.Contains(why.Reason, streamOffset):
		return s.misconfigured(doingFetch, "it is no stream ("+name+")", "name a stream in StreamOptions.Stream, or take from a queue with OpenSource")
	case why.Code == amqp.PreconditionFailed, why.Code == amqp.NotAllowed, why.Code == amqp.NotImplemented, why.Code == amqp.CommandInvalid, why.Code == amqp.SyntaxError, why.Code == amqp.ResourceLocked:
		return s.misconfigured(doingFetch, "the server does not let the stream be read in this way ("+name+")", "look at the server's log, and at the settings of the stream")
	}
	return s.unavailable(doingFetch, "the server ends the channel ("+name+")", fixWait)
}

// fixOther is what to do about a stream that was made again.
const fixOther = "if somebody deleted the stream and made it again, set StreamOptions.Life to a new word, and look what of the old one is missing"

// fencedOff says that somebody opened the position later.
func (s *StreamSource) fencedOff() error {
	return s.unavailable(doingKeep, "another source has opened the position", "wait; if that goes on, give groups of different servers different names in StreamOptions.Consumer")
}

// otherStream says that the stream does not have the message that the position tells of.
func (s *StreamSource) otherStream(at position) error {
	return s.misconfigured(doingFetch, fmt.Sprintf("at offset %d is another message than the one that the group has seen there", at.Seen), fixOther)
}

// unproved says that the stream ends before the position.
func (s *StreamSource) unproved(at position) error {
	return s.misconfigured(doingFetch, fmt.Sprintf("it ends before offset %d, which the group has seen", at.Seen), "wait if a server of the cluster lags behind; "+fixOther)
}

// gap is about messages that were removed before they were acked: an error, unless the options let
// the source go on.
func (s *StreamSource) gap(from, to uint64) error {
	if s.options.Reset != nil {
		s.options.Reset(Reset{Stream: s.options.Stream, From: from, To: to})
		return nil
	}
	return s.misconfigured(doingFetch, fmt.Sprintf("its retention removed the messages from offset %d up to %d, which the group has not acked", from, to),
		"keep more in the stream, and set StreamOptions.Reset to go on without them")
}
