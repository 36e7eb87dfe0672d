package natsbroker

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// worker is what a call's goroutine has to itself.
type worker struct {
	*call

	headers    *headers
	replies    replies
	msg        nats.Msg
	maxPayload int // of the server
	look       *time.Ticker

	// What the last subject turned out to be, for the next message of it, and
	// which subjects turned out to lead nowhere.
	lastSubject string
	lastTarget  *target
	nowhere     map[string]*broker.Error
	away        *broker.Error // JetStream did not answer: it is not asked again by this call
	blind       bool          // the user may not read what streams hold
}

func (w *worker) sendAll(ctx context.Context) {
	for i := range w.Len() {
		m, ok := w.Message(i)
		if !ok || !w.send(ctx, i, &m) {
			return
		}
	}
}

// send sends message i, or gives it its fate. It says whether the next one may
// follow.
func (w *worker) send(ctx context.Context, i int, m *broker.Delivery) bool {
	if f := w.build(ctx, m, 0); f != nil {
		w.Answer(i, brokerkit.Result(w.orNotInTime(f)))
		return true
	}
	if !w.await(ctx, w.d.slots) {
		return false
	}
	if !w.sending(i, w.msg.Subject) {
		<-w.d.slots
		return false
	}
	w.msg.Reply = w.replies.next(w.d.inbox.prefix, w.number, i, w.Len())
	if err := w.d.nc.PublishMsg(&w.msg); err != nil {
		w.Answer(i, brokerkit.Result(translateError(err)))
	}
	return true
}

// build makes the message for the wire; after is as in msgID.append.
func (w *worker) build(ctx context.Context, m *broker.Delivery, after uint64) *broker.Error {
	subject, f := w.d.options.subject(m)
	if f != nil {
		return f
	}
	if f := refuseSubject(subject); f != nil {
		return f
	}
	if f := badWire(m.Wire, w.d.pass); f != nil {
		return f
	}
	if f := badProperties(m, w.d.pass); f != nil {
		return f
	}
	if _, unnamed := m.Headers[""]; unnamed && m.Wire == nil {
		return adapter.Failure(broker.Rejected, "a header has no name", "name it, or leave it out")
	}
	if f := w.aim(ctx, subject); f != nil {
		return f
	}
	w.headers.set(m, subject, w.lastTarget.name, after)
	w.msg = nats.Msg{Subject: subject, Header: w.headers.header, Data: m.Payload}
	if w.headers.size+len(m.Payload) > w.lastTarget.maxBytes && w.lastTarget.maxBytes > 0 {
		if f := w.refreshTarget(ctx, subject, m.Attempt); f != nil {
			return f
		}
	}
	return tooLarge(w.headers.size, len(m.Payload), w.lastTarget.limit(w.maxPayload))
}

// refreshTarget makes lastTarget what is known of subject's stream since a moment ago;
// for a message that was refused before, since now: somebody may just have raised
// the limit for it.
func (w *worker) refreshTarget(ctx context.Context, subject string, attempt int) *broker.Error {
	trust := min(refusalTrust, w.d.streams.recheck)
	if attempt > 1 {
		trust = 0
	}
	t, f := w.d.streams.findWithin(ctx, subject, time.Now(), trust)
	if f != nil {
		w.lastTarget = nil
		w.leadsNowhere(subject, f)
		return f
	}
	w.lastTarget = t
	return nil
}

// aim makes lastTarget the stream of subject.
func (w *worker) aim(ctx context.Context, subject string) *broker.Error {
	if w.lastTarget != nil && subject == w.lastSubject {
		return nil
	}
	if f := cmp.Or(w.nowhere[subject], w.away); f != nil {
		return f
	}
	t, f := w.d.streams.find(ctx, subject, w.began)
	if f != nil {
		w.leadsNowhere(subject, f)
		return f
	}
	w.lastSubject, w.lastTarget = subject, t
	return nil
}

func (w *worker) leadsNowhere(subject string, f *broker.Error) {
	if f.Scope == broker.ScopeDestination && f.Outcome != broker.Rejected {
		w.away = f
		return
	}
	if w.nowhere == nil {
		w.nowhere = map[string]*broker.Error{}
	}
	w.nowhere[subject] = f
}

// await waits for a slot, nil for none, and looks meanwhile after messages that
// nobody heard or that the server denied. It says whether it got the slot, not
// when the call ends first.
func (w *worker) await(ctx context.Context, slots chan<- struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
	}
	for {
		select {
		case slots <- struct{}{}:
			return true
		case <-ctx.Done():
			return false
		case <-w.wake:
			w.judgeUnheard(ctx)
			w.judgeRepeats(ctx)
		case <-w.look.C:
			w.judgeDenied()
		}
	}
}

// judgeUnheard finds out why nobody heard: there is no stream, or it has no
// leader, or JetStream is away.
func (w *worker) judgeUnheard(ctx context.Context) {
	for subject, those := range w.those(unheard) {
		f := w.away
		if f == nil {
			var t *target
			switch t, f = w.d.streams.check(ctx, subject); {
			case f != nil:
				w.leadsNowhere(subject, f)
			case !t.takes(subject):
				f = adapter.TopicFailure(broker.Misconfigured, fmt.Sprintf("stream %q does not listen to the topic's subject", t.name), "add the subject to it")
			default:
				f = adapter.TopicFailure(broker.Unavailable, "the stream has no leader, or may not be looked up", "wait, or look at its servers")
			}
		}
		for _, i := range those {
			w.Answer(i, brokerkit.Result(f))
		}
	}
}

// judgeDenied looks whether the server denied this user a subject since the call
// began.
func (w *worker) judgeDenied() {
	subject, denied := deniedPublish(w.d.nc, w.before)
	if !denied {
		return
	}
	f := adapter.TopicFailure(broker.Misconfigured, "the server forbids this user to publish to the topic's subject", "grant the permission")
	for _, i := range w.those(brokerkit.Sent)[subject] {
		w.Answer(i, brokerkit.Result(f))
	}
}
