package rabbitbroker

import (
	"context"
	"errors"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// session is a pipeline's channel while it is open. The pipeline's goroutine sends; a
// second one listens, for sending blocks while the server does not read.
type session struct {
	pipeline *pipeline
	line     *line
	ch       *amqp.Channel
	out      writer

	returns chan amqp.Return
	ended   chan *amqp.Error // the channel's end, if it was not ours
	more    chan struct{}    // something is in flight that was not there
	over    chan struct{}    // the listener has ended
	why     *amqp.Error      // the channel's end; read it after over
	retired bool             // closed by us
}

// work sends over one connection until it is gone.
func (l *pipeline) work(ctx context.Context, line *line) {
	for ctx.Err() == nil && !line.conn.IsClosed() {
		s, err := openSession(l, line)
		if err != nil {
			l.pause(ctx, line, time.Second)
			continue
		}
		s.send(ctx)
		<-s.over // with ctx the link closes the connection
		if !l.judge(s) {
			l.pause(ctx, line, retryPause)
		}
	}
}

// pause comes after a channel that could not be opened, because the connection is about
// to go or the server has too many, and after one that ended for nothing we know of.
func (l *pipeline) pause(ctx context.Context, line *line, d time.Duration) {
	again := time.NewTimer(d)
	defer again.Stop()
	select {
	case <-ctx.Done():
	case <-line.gone:
	case <-again.C:
	}
}

func openSession(l *pipeline, line *line) (*session, error) {
	ch, err := line.conn.Channel()
	if err != nil {
		return nil, err
	}
	if err := ch.Confirm(false); err != nil {
		_ = ch.Close() // it failed, or its connection
		return nil, err
	}
	s := &session{
		pipeline: l, line: line, ch: ch, out: writer{table: amqp.Table{}},
		more: make(chan struct{}, 1), over: make(chan struct{}),
	}
	// The client throws a return away that nobody takes for 5 s, and the message
	// would pass for accepted: here is room for all that can be in flight.
	s.returns = ch.NotifyReturn(make(chan amqp.Return, 4*l.room))
	s.ended = ch.NotifyClose(make(chan *amqp.Error, 1))
	go s.listen()
	return s, nil
}

// aloneAtMost is how long others wait for a message that must be alone.
const aloneAtMost = 500 * time.Millisecond

// send sends what the pipeline has, until the channel or ctx ends.
func (s *session) send(ctx context.Context) {
	lonely := time.NewTimer(aloneAtMost)
	defer lonely.Stop()
	for {
		it := s.pipeline.take()
		if it != nil {
			if !s.sendOne(it) {
				return
			}
			continue
		}
		if s.pipeline.forsaken() {
			s.retire()
			return
		}
		var enough <-chan time.Time
		if s.pipeline.waitsAlone() {
			lonely.Reset(aloneAtMost)
			enough = lonely.C
		}
		select {
		case <-s.pipeline.wake:
		case <-enough:
			s.pipeline.endAlone()
		case <-s.over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// sendOne says whether the next message may follow.
func (s *session) sendOne(it *item) bool {
	m, before, ok := it.call.sending(it)
	if !ok {
		s.pipeline.drop(it)
		return true
	}
	confirm, err := s.ch.PublishWithDeferredConfirm(it.exchange, it.key, true, false, s.out.publishing(&m, it.id))
	if err == nil {
		s.pipeline.mu.Lock()
		it.confirm = confirm
		s.pipeline.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
		return true
	}
	s.pipeline.drop(it)
	if errors.Is(err, amqp.ErrClosed) { // nothing of it went out
		it.call.unsent(it, before)
		s.pipeline.pushFirst(it)
		return false
	}
	it.call.answer(it, brokerkit.Result(adapter.Failure(broker.Unknown, "the message may not have been sent", "send it again")))
	s.line.cut() // what the server has of it is of no use
	return false
}

// retire closes the channel. What is in flight is then nobody's.
func (s *session) retire() {
	s.retired = true
	_ = s.ch.Close() // it may be closed, or its connection
}

// late is how long the oldest answer may be missing before those behind it are
// looked at one by one.
const late = 5 * time.Millisecond

// listen takes the answers in until the channel ends.
func (s *session) listen() {
	defer close(s.over)
	look := time.NewTimer(late)
	defer look.Stop()
	for all := false; ; {
		s.answer(all)
		all = false
		head, several := s.pipeline.head()
		var done <-chan struct{}
		var tick <-chan time.Time
		if head != nil {
			done = head.Done()
		}
		if several {
			look.Reset(late)
			tick = look.C
		}
		select {
		case <-done:
		case <-tick:
			all = true
		case <-s.more:
		case r, open := <-s.returns:
			if open {
				s.pipeline.returned(nil, r.MessageId)
				continue
			}
			s.finish()
			return
		}
	}
}

// answer settles those in flight that have their answers: from the oldest on up to
// one that has none, or all.
func (s *session) answer(all bool) {
	done := s.pipeline.land(all)
	if len(done) == 0 {
		return
	}
	// A return comes before its acknowledgement: those of done are here by now.
	for more := true; more; {
		select {
		case r, open := <-s.returns:
			if more = open; open {
				s.pipeline.returned(done, r.MessageId)
			}
		default:
			more = false
		}
	}
	for i, it := range done {
		acked := it.confirm.Acked()
		if !acked && s.ch.IsClosed() { // the client calls what has no answer refused
			s.pipeline.relaunch(done[i:])
			return
		}
		s.answered(it, acked)
	}
	s.pipeline.answered(len(done))
}

// answered gives a message that has its answer its fate.
func (s *session) answered(it *item, acked bool) {
	s.pipeline.link.known.took(it)
	switch {
	case it.back:
		s.pipeline.link.redeclare()
		it.call.answer(it, brokerkit.Result(adapter.TopicFailure(broker.Misconfigured, "no queue takes the message (NO_ROUTE)",
			"create the queue, or bind one to the exchange by the routing key")))
	case acked:
		it.call.answer(it, broker.Result{Outcome: broker.Accepted})
	default:
		f := adapter.TopicFailure(broker.Unavailable, "the server refused the message (basic.nack)",
			"make room in the queue, or look at the server's log")
		if it.nacks++; it.nacks <= s.pipeline.retries {
			s.pipeline.again(it, f)
			return
		}
		it.call.answer(it, brokerkit.Result(f))
	}
}

// finish takes in what came before the channel's end. The client has closed the
// listeners by now and is about to end every confirmation.
func (s *session) finish() {
	s.why = <-s.ended // nil when it was closed by us
	for _, confirm := range s.pipeline.confirms() {
		<-confirm.Done()
	}
	var unanswered []*item
	for _, it := range s.pipeline.land(true) {
		if it.confirm.Acked() {
			s.answered(it, true)
		} else {
			unanswered = append(unanswered, it)
		}
	}
	s.pipeline.relaunch(unanswered)
}
