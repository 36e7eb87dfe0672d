package rabbitbroker

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// subject is what the errors of a source are about.
type subject struct {
	noun, name string // "queue", and what it is called
	where      string // the servers
	options    string // the type of the source's options
}

// failure is an error of this source: what it was doing, what failed, what to do.
func (s *subject) failure(class error, doing, what, fix string) error {
	return &sourcekit.Error{Text: fmt.Sprintf("%s: %s %s %q, at %s: %s; %s", adapter, doing, s.noun, s.name, s.where, what, fix), Class: class}
}

func (s *subject) unavailable(doing, what, fix string) error {
	return s.failure(source.ErrUnavailable, doing, what, fix)
}

func (s *subject) misconfigured(doing, what, fix string) error {
	return s.failure(source.ErrMisconfigured, doing, what, fix)
}

// connectionFailure gives a failure of a connection its class. Its text is the destination's, but
// for the name of the options.
func (s *subject) connectionFailure(f *broker.Error) error {
	text := strings.TrimPrefix(strings.ReplaceAll(f.Error(), "Options.", s.options+"."), string(adapter)+": ")
	what, fix, _ := strings.Cut(text, "; ")
	if f.Outcome == broker.Misconfigured {
		return s.misconfigured(doingFetch, what, fix)
	}
	return s.unavailable(doingFetch, what, fix)
}

const (
	doingFetch = "fetch from"
	doingLag   = "ask for the lag of"
	doingClose = "close the source of"

	fixWait = "wait, or look at the server's log"
)

// consumeFailure gives the server's answer to a request about the queue its class.
func (s *Source) consumeFailure(doing string, why *amqp.Error) error {
	has := func(words string) bool { return strings.Contains(why.Reason, words) }
	name := codeName(why)
	switch {
	case !why.Server:
		return s.unavailable(doing, "the connection was lost", "wait, or look whether the server runs")
	case why.Code == amqp.NotFound && has("is down"):
		return s.unavailable(doing, "the server that has the queue is down ("+name+")", "start that server")
	case why.Code == amqp.NotFound:
		return s.misconfigured(doing, "the queue does not exist ("+name+")", "create it, declare it with SourceOptions.Topology, or name another in SourceOptions.Queue")
	case why.Code == amqp.AccessRefused && has("exclusive use"):
		return s.misconfigured(doing, "another consumer has the queue for itself ("+name+")", "stop that consumer, or have it consume without exclusive")
	case why.Code == amqp.AccessRefused:
		return s.misconfigured(doing, "the server forbids this user to read the queue ("+name+")", "grant the permission to read it")
	case why.Code == amqp.ResourceLocked:
		return s.misconfigured(doing, "the queue is exclusive to another connection ("+name+")", "declare it without exclusive")
	case why.Code == amqp.PreconditionFailed && has("stream"):
		return s.misconfigured(doing, "the queue is a stream, which needs a source that keeps offsets ("+name+")", "use OpenStream, or bind a quorum queue to the exchange and take from that")
	case why.Code == amqp.PreconditionFailed, why.Code == amqp.NotAllowed, why.Code == amqp.NotImplemented, why.Code == amqp.CommandInvalid, why.Code == amqp.SyntaxError:
		return s.misconfigured(doing, "the server does not let the queue be read in this way ("+name+")", "look at the server's log, and at the settings of the queue")
	}
	return s.unavailable(doing, "the server ends the channel ("+name+")", fixWait)
}

// places are where the servers are, without user and password.
func places(hosts []host) string {
	var all []string
	for _, h := range hosts[:min(len(hosts), 3)] {
		all = append(all, net.JoinHostPort(h.name, strconv.Itoa(h.port)))
	}
	return strings.Join(all, ",")
}
