package rabbitbroker

import (
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker/brokerkit"
)

// judge decides about what was in flight when the channel ended.
//
// With its connection, all of it is unknown. Alone, it was ended by one message
// for its own sake, and the server says for what but seldom which: those it names
// get their verdict. Else the rest is sent again, half as many at a time, until
// the culprit is alone. Some of the rest may have been stored before.
//
// It says whether there was anything to decide about.
func (l *pipeline) judge(s *session) bool {
	left := l.landAll()
	if s.retired || s.why == nil || s.line.conn.IsClosed() {
		lost := adapter.Lost()
		for _, it := range left {
			it.call.answer(it, brokerkit.Result(lost))
		}
		return true
	}
	l.link.known.forget(sizeLimit(s.why))
	if s.why.Code == amqp.NotFound {
		l.link.redeclare()
	}
	rest := answerAccused(left, s.why)
	if len(rest) == len(left) {
		if len(left) == 1 {
			left[0].call.answer(left[0], brokerkit.Result(verdict(s.why)))
			return true
		}
		l.narrow(len(left))
	}
	l.mu.Lock()
	waiting := l.queue.take()
	l.mu.Unlock()
	rest = append(rest, answerAccused(waiting, s.why)...)
	again := rest[:0]
	for _, it := range rest {
		if it.call.again(it, nil) {
			again = append(again, it)
		}
	}
	l.pushFirst(again...)
	return len(left) > 0
}

// answerAccused settles those of items that the server's words name, and returns the
// others.
func answerAccused(items []*item, why *amqp.Error) (rest []*item) {
	named := namedByServer(why)
	f := verdict(why)
	for _, it := range items {
		if named(it) {
			it.call.answer(it, brokerkit.Result(f))
		} else {
			rest = append(rest, it)
		}
	}
	return rest
}

// namedByServer reads out of the server's words which messages it means: nobody, if it
// does not say. The words are those of rabbit_channel.erl.
func namedByServer(why *amqp.Error) func(it *item) bool {
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
