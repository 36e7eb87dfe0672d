package rabbitbroker

import (
	"fmt"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
)

// judge decides about what was in flight when the channel ended.
//
// With its connection, all of it is unknown. Alone, it was ended by one message
// for its own sake, and the server says for what but seldom which: those it names
// get their verdict. Else the rest is sent again, half as many at a time, until
// the culprit is alone. Some of the rest may have been stored before.
//
// It says whether there was anything to decide about.
func (l *lane) judge(s *session) bool {
	left := l.landAll()
	if s.retired || s.why == nil || s.line.conn.IsClosed() {
		lost := failure(broker.Unknown, "the connection was lost before the answer came", "send the message again")
		for _, it := range left {
			it.call.settle(it, result(lost))
		}
		return true
	}
	l.link.known.forget(sizeLimit(s.why))
	if s.why.Code == amqp.NotFound {
		l.link.redeclare()
	}
	rest := convict(left, s.why)
	if len(rest) == len(left) {
		if len(left) == 1 {
			left[0].call.settle(left[0], result(verdict(s.why)))
			return true
		}
		l.narrow(len(left))
	}
	l.mu.Lock()
	waiting := l.queue.take()
	l.mu.Unlock()
	rest = append(rest, convict(waiting, s.why)...)
	again := rest[:0]
	for _, it := range rest {
		if it.call.again(it, nil) {
			again = append(again, it)
		}
	}
	l.pushFirst(again...)
	return len(left) > 0
}

// convict settles those of items that the server's words name, and returns the
// others.
func convict(items []*item, why *amqp.Error) (rest []*item) {
	named := accused(why)
	f := verdict(why)
	for _, it := range items {
		if named(it) {
			it.call.settle(it, result(f))
		} else {
			rest = append(rest, it)
		}
	}
	return rest
}

// accused reads out of the server's words which messages it means: nobody, if it
// does not say. The words are those of rabbit_channel.erl.
func accused(why *amqp.Error) func(it *item) bool {
	switch why.Code {
	case amqp.NotFound: // no exchange 'x' in vhost 'v'
		return func(it *item) bool { return strings.Contains(why.Reason, "exchange '"+it.exchange+"' in vhost '") }
	case amqp.AccessRefused: // access to [topic 'k' in] exchange 'x' in vhost 'v' refused
		topic := strings.Contains(why.Reason, "topic '")
		return func(it *item) bool {
			return strings.Contains(why.Reason, "exchange '"+it.exchange+"' in vhost '") &&
				(!topic || strings.Contains(why.Reason, "topic '"+it.key+"' in exchange"))
		}
	case amqp.PreconditionFailed:
		limit := sizeLimit(why)
		return func(it *item) bool { return limit > 0 && it.size > limit }
	}
	return func(*item) bool { return false }
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
		return topicFailure(broker.Misconfigured, "the exchange does not exist ("+codeName(why)+")",
			"create it, declare it with Options.Topology, or name another")
	case amqp.AccessRefused:
		return topicFailure(broker.Misconfigured, "the server forbids this user to publish here ("+codeName(why)+")",
			"grant the permission to write to the exchange, and to the topic")
	case amqp.ResourceLocked, amqp.NotAllowed:
		return topicFailure(broker.Misconfigured, "the server does not allow this user to publish here ("+codeName(why)+")",
			"look at the server's log")
	}
	if limit := sizeLimit(why); limit > 0 {
		return failure(broker.Rejected, fmt.Sprintf("the payload is larger than the server allows (%d bytes)", limit),
			"send less, or raise max_message_size of the server")
	}
	return failure(broker.Rejected, "the server closed the channel for the message ("+codeName(why)+")",
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
