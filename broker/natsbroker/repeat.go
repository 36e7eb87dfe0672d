package natsbroker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

// A stream answers "duplicate" when it has seen the id within its window. That is no
// proof that it holds the message: it may be gone (purged, expired, consumed), and
// somebody else may have used the id. So what the stream names is read. If it is not
// this message at this subject, or may not be read, the message goes out again under
// an id that the stream has not seen, and is stored, twice if it must be.

// repeat is what is known of a message that a stream took for a repeat.
type repeat struct {
	at    place
	id    string // under which it was sent
	tries int    // to send it under another id
}

// maxRepeats is how often a call sends a message under another id. Each needs a copy
// of the message that somebody stored before.
const maxRepeats = 8

// readsAtOnce is how many messages are read back from streams at a time.
const readsAtOnce = 32

// foundLocked has the worker look at what the stream holds for message i.
func (c *call) foundLocked(i int, at place) {
	if c.repeats == nil {
		c.repeats = map[int]*repeat{}
	}
	r := c.repeats[i]
	if r == nil {
		r = &repeat{}
		c.repeats[i] = r
	}
	r.at = at
	c.Mark(i, repeated)
	c.wakeUp()
}

// found returns the messages that are to be looked at.
func (c *call) found() (those []int) {
	for i := range c.Len() {
		if c.State(i) == repeated {
			those = append(those, i)
		}
	}
	return those
}

func errNotCompared() *broker.Error {
	return adapter.Failure(broker.Unknown, "the stream says that it has the message, and what it has could not be read in time", "send the message again")
}

// holding is what a look at a stream showed.
type holding int

const (
	unread holding = iota // no answer; it is still to be looked at
	holds                 // this message, at this subject
	lacks                 // it does not hold the message there
	unseen                // the user may not look
)

// judgeRepeats gives the messages that a stream took for repeats their fate.
func (w *worker) judgeRepeats(ctx context.Context) {
	those := w.found()
	if len(those) == 0 {
		return
	}
	seen := make([]holding, len(those))
	var reading sync.WaitGroup
	turns := make(chan struct{}, readsAtOnce)
	for n, i := range those {
		at, o := w.repeatOf(i)
		if w.blind {
			seen[n] = unseen
			continue
		}
		turns <- struct{}{}
		reading.Go(func() {
			seen[n] = w.d.streams.look(ctx, at, &o)
			<-turns
		})
	}
	reading.Wait()
	for n, i := range those {
		switch seen[n] {
		case holds:
			w.Answer(i, broker.Result{Outcome: broker.Accepted, Note: "duplicate"})
		case unread:
			w.Answer(i, brokerkit.Result(errNotCompared()))
		case unseen:
			w.blind = true
			w.sendUnderNewID(ctx, i)
		case lacks:
			w.sendUnderNewID(ctx, i)
		}
	}
}

// repeatOf returns where message i is said to be, and what would be there.
func (w *worker) repeatOf(i int) (at place, o original) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.repeats[i]
	m, ok := w.Message(i)
	if !ok {
		return r.at, o
	}
	if r.id == "" {
		var d msgID
		r.id = string(d.append(nil, &m, w.subject[i], 0))
	}
	return r.at, originalOf(&m, w.subject[i], r.id, w.d.pass)
}

// sendUnderNewID sends message i under an id that the stream has not seen.
func (w *worker) sendUnderNewID(ctx context.Context, i int) {
	m, ok := w.Message(i)
	if !ok {
		return
	}
	r, more := w.retryRepeat(i)
	if !more {
		w.Answer(i, brokerkit.Result(adapter.Failure(broker.Unknown, fmt.Sprintf("stream %q takes the message for a repeat and does not show that it holds it", r.at.stream),
			"let the user read the stream ($JS.API.STREAM.MSG.GET), or wait until its duplicate window is over")))
		return
	}
	if f := w.build(ctx, &m, r.at.seq); f != nil {
		w.Answer(i, brokerkit.Result(w.orNotInTime(f)))
		return
	}
	if !w.markSentUnderNewID(i, w.msg.Header.Get(headerMsgID)) {
		return
	}
	w.msg.Reply = w.d.inbox.prefix + string(appendToken(nil, w.number, i))
	if err := w.d.nc.PublishMsg(&w.msg); err != nil {
		w.Answer(i, brokerkit.Result(translateError(err)))
	}
}

// retryRepeat counts a try to send message i under another id, and says whether it may be.
func (w *worker) retryRepeat(i int) (r repeat, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.repeats[i].tries++
	r = *w.repeats[i]
	return r, r.tries <= maxRepeats
}

// markSentUnderNewID marks message i as sent again, under another id, unless the call is
// over.
func (w *worker) markSentUnderNewID(i int, id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.repeats[i].id = id
	return w.State(i) == repeated && w.Sending(i)
}

// look says whether the message at a place of a stream is o. The stream's leader is
// asked: a replica may be behind.
func (s *streams) look(ctx context.Context, at place, o *original) holding {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	var stored *jetstream.RawStreamMsg
	err := s.request(ctx, func(ctx context.Context) (err error) {
		stored, err = s.readMessage(ctx, at)
		return err
	})
	switch {
	case err == nil:
	case errors.Is(err, errForbidden):
		return unseen
	case errors.Is(err, jetstream.ErrMsgNotFound), errors.Is(err, jetstream.ErrStreamNotFound):
		return lacks
	default:
		return unread
	}
	if o.is(stored, s.mapped(o.subject)) {
		return holds
	}
	return lacks
}

// readMessage reads one message of a stream. The form is that of the JetStream API,
// ADR-31 of NATS.
func (s *streams) readMessage(ctx context.Context, at place) (*jetstream.RawStreamMsg, error) {
	question, err := json.Marshal(map[string]uint64{"seq": at.seq})
	if err != nil {
		return nil, err
	}
	reply, err := s.js.Conn().RequestWithContext(ctx, s.apiPrefix()+readSubject+at.stream, question)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Subject string `json:"subject"`
			Header  []byte `json:"hdrs"`
			Data    []byte `json:"data"`
		} `json:"message"`
	}
	switch err := json.Unmarshal(reply.Data, &answer); {
	case err != nil:
		return nil, err
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, jetstream.ErrMsgNotFound
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		return nil, jetstream.ErrStreamNotFound
	case answer.Error != nil:
		return nil, answer.Error
	}
	stored := &jetstream.RawStreamMsg{Subject: answer.Message.Subject, Header: nats.Header{}, Data: answer.Message.Data}
	if len(answer.Message.Header) > 0 {
		if stored.Header, err = nats.DecodeHeadersMsg(answer.Message.Header); err != nil {
			return stored, nil //nolint:nilerr // headers that nobody can read are not those of the message
		}
	}
	return stored, nil
}

// readSubject begins the subject of a request for a message, behind the API's prefix.
const readSubject = "STREAM.MSG.GET."

// apiPrefix is that of the account's JetStream API.
func (s *streams) apiPrefix() string {
	o := s.js.Options()
	switch {
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".") + "."
	}
	return jetstream.DefaultAPIPrefix
}
