package watermillbroker

import (
	"errors"
	"fmt"

	"github.com/postbag/postbag/broker"
)

// judge is the fate of all messages of a call.
func (d *Destination) judge(err error, messages int) broker.Result {
	if err == nil {
		return broker.Result{Outcome: broker.Accepted}
	}
	r := broker.Result{Outcome: broker.OutcomeOf(err)}
	if r.Outcome == broker.Misconfigured || r.Outcome == broker.Unavailable {
		r.Scope = broker.ScopeOf(err)
	}
	if d.options.Classify != nil {
		d.options.Classify(err).Apply(&r)
	}
	if r.Outcome == broker.Rejected && messages > 1 {
		r.Outcome = broker.Unknown
	}
	r.Err = fmt.Errorf("watermillbroker: the publisher: %w; look at what it publishes to", err)
	return r
}

var (
	errBehind   = errors.New("watermillbroker: an earlier message of the key was not accepted; send this one after it")
	errLate     = errors.New("watermillbroker: the context ended before the publisher was free; send the message again")
	errNoAnswer = errors.New("watermillbroker: the publisher did not return before the context ended; send the message again")
)
