package broker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/postbag/postbag/broker"
)

func TestTheZeroOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	var r broker.Result
	if r.Outcome != broker.Unknown {
		t.Errorf("the zero Result is %v", r.Outcome)
	}
}

func TestOutcomesHaveNames(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[broker.Outcome]string{
		broker.Unknown: "unknown", broker.Accepted: "accepted", broker.Rejected: "rejected", broker.Misconfigured: "misconfigured",
		broker.Unavailable: "unavailable", broker.NotSent: "not sent", 6: "outcome(6)", -1: "outcome(-1)",
	} {
		if got := outcome.String(); got != want {
			t.Errorf("outcome %d is named %q, want %q", int(outcome), got, want)
		}
	}
}

func TestOutcomeOfReadsTheOutcomeOfAnError(t *testing.T) {
	t.Parallel()
	plain := errors.New("plain")
	refused := &broker.Error{Outcome: broker.Rejected, Err: plain}
	for name, c := range map[string]struct {
		err  error
		want broker.Outcome
	}{
		"no error":                {nil, broker.Accepted},
		"a plain error":           {plain, broker.Unknown},
		"a context's":             {context.Canceled, broker.Unknown},
		"its own":                 {refused, broker.Rejected},
		"wrapped":                 {fmt.Errorf("handler: %w", refused), broker.Rejected},
		"joined":                  {errors.Join(plain, refused), broker.Rejected},
		"the outermost of two":    {&broker.Error{Outcome: broker.Unavailable, Err: refused}, broker.Unavailable},
		"accepted, as an error":   {&broker.Error{Outcome: broker.Accepted, Err: plain}, broker.Unknown},
		"an outcome without text": {&broker.Error{Outcome: broker.Misconfigured}, broker.Misconfigured},
		"the closed destination":  {broker.ErrClosed, broker.Unknown},
	} {
		if got := broker.OutcomeOf(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAnErrorUnwrapsToItsCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("stream full; make room")
	err := &broker.Error{Outcome: broker.Unavailable, Err: cause}
	if err.Error() != cause.Error() || !errors.Is(err, cause) {
		t.Errorf("the error is %q and not its cause", err)
	}
	if bare := (&broker.Error{Outcome: broker.NotSent}); bare.Error() != "not sent" || errors.Unwrap(bare) != nil {
		t.Errorf("an error without a cause is %q", bare)
	}
}
