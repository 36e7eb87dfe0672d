package rabbitbroker

import (
	"fmt"

	"github.com/postbag/postbag/broker"
)

// failure makes an error of this package: what failed, and what to do.
func failure(outcome broker.Outcome, what, fix string) *broker.Error {
	return &broker.Error{Outcome: outcome, Err: fmt.Errorf("rabbitbroker: %s; %s", what, fix)}
}

// topicFailure is failure for what holds for the messages of one topic alone.
func topicFailure(outcome broker.Outcome, what, fix string) *broker.Error {
	f := failure(outcome, what, fix)
	f.Scope = broker.ScopeTopic
	return f
}

// result is the fate of a message that met f.
func result(f *broker.Error) broker.Result {
	return broker.Result{Outcome: f.Outcome, Scope: f.Scope, Err: f}
}

func errNotInTime() *broker.Error {
	return failure(broker.NotSent, "the call ended before the message was sent", "give it more time, or fewer messages")
}

func errNoAnswer() *broker.Error {
	return failure(broker.Unknown, "no answer came in time", "send the message again")
}

func errClosed() *broker.Error {
	return &broker.Error{Outcome: broker.NotSent, Err: broker.ErrClosed}
}
