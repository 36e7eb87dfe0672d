package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/broker"
)

const (
	maxAnswer    = 64 << 10    // bytes of an answer's body that are read
	drainTimeout = time.Second // for the rest of a body that decides nothing
)

var errTimeout = errors.New("timed out")

// attempt sends m once and says what became of it. The caller has a turn.
func (d *Destination) attempt(parent context.Context, m *broker.Delivery) broker.Result {
	t, err := d.targetOf(m)
	if err != nil {
		return broker.Result{Outcome: broker.OutcomeOf(err), Scope: broker.ScopeOf(err), Err: err}
	}
	if err := d.settings.wireFault(m.Wire); err != nil {
		return broker.Result{Outcome: broker.Rejected, Err: err}
	}
	ctx, end := context.WithCancelCause(parent)
	defer end(nil)
	defer context.AfterFunc(d.ended, func() { end(broker.ErrClosed) })()
	var p progress
	r := newRequest(p.watch(ctx), &d.settings, t, m)

	timer := time.AfterFunc(d.settings.Timeout, func() { end(errTimeout) })
	defer timer.Stop()
	answer, err := d.transport.RoundTrip(r)
	if err != nil {
		result := p.failure(err, context.Cause(ctx)).result(t.origin)
		result.Scope = d.scope(result.Outcome, 0)
		return result
	}
	defer drain(answer, timer)
	return d.judge(answer, t)
}

// judge turns an answer into a result.
func (d *Destination) judge(answer *http.Response, t *target) broker.Result {
	outcome := StatusOutcome(answer.StatusCode)
	if outcome == broker.Accepted {
		return broker.Result{Outcome: broker.Accepted}
	}
	result := broker.Result{Outcome: outcome, Scope: d.scope(outcome, answer.StatusCode)}
	if d.settings.Classify != nil {
		d.classify(answer).Apply(&result)
	}
	result.Err = &StatusError{Status: answer.StatusCode, Origin: t.origin, outcome: result.Outcome}
	if result.Outcome == broker.Unavailable {
		result.After = retryAfter(answer.Header.Get("Retry-After"), d.settings.now(), d.settings.MaxRetryAfter)
	}
	return result
}

// scope is that of an outcome, by the status of the answer, zero for none. Where each
// message may have a URL of its own, what is wrong is wrong with that URL. At a single
// one, an answer that is about what was asked for is about the message's topic, which
// an endpoint may know as a path or a handler; about the sender, or the way there, it
// is for all.
func (d *Destination) scope(outcome broker.Outcome, status int) broker.Scope {
	if outcome != broker.Misconfigured && outcome != broker.Unavailable {
		return broker.ScopeDestination
	}
	if d.settings.target == nil {
		return broker.ScopeTopic
	}
	switch status {
	case http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusGone,
		http.StatusLocked, http.StatusUnavailableForLegalReasons:
		return broker.ScopeTopic
	}
	return broker.ScopeDestination
}

// classify asks the option, which sees a bounded body and may close it.
func (d *Destination) classify(answer *http.Response) broker.Class {
	seen := *answer
	seen.Body = io.NopCloser(io.LimitReader(answer.Body, maxAnswer))
	return d.settings.Classify(&seen)
}

// drain reads what is left of an answer, so that its connection can be used
// again, unless that is much or slow: then the connection is dropped.
func drain(answer *http.Response, timer *time.Timer) {
	if answer.Body != http.NoBody && answer.StatusCode != http.StatusSwitchingProtocols {
		timer.Reset(drainTimeout)
		// The answer is known by its header; what goes wrong from here on costs the
		// connection only.
		_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	}
	_ = answer.Body.Close()
}

// progress says how far a request got.
type progress struct {
	connected, multiplexed, headed atomic.Bool
}

func (p *progress) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			if c, ok := info.Conn.(*tls.Conn); ok && c.ConnectionState().NegotiatedProtocol == "h2" {
				p.multiplexed.Store(true)
			}
			p.connected.Store(true)
		},
		WroteHeaders: func() { p.headed.Store(true) },
	})
}

// maybeSent is false only if the endpoint cannot have seen the whole header of
// the request. Over HTTP/1 the client has stopped writing when it returns an
// error; over HTTP/2 it may still be about to.
func (p *progress) maybeSent() bool {
	return p.connected.Load() && (p.multiplexed.Load() || p.headed.Load())
}
