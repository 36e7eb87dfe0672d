package broker_test

import (
	"testing"

	"github.com/postbag/postbag/broker"
)

func TestNoClassMakesAMessageAccepted(t *testing.T) {
	t.Parallel()
	outcomes := []broker.Outcome{broker.Unknown, broker.Rejected, broker.Misconfigured, broker.Unavailable, broker.NotSent}
	for c := broker.Class(-3); c < 20; c++ {
		for _, o := range outcomes {
			r := broker.Result{Outcome: o}
			if c.Apply(&r); r.Outcome == broker.Accepted {
				t.Errorf("class %v makes %v accepted", c, o)
			}
		}
		r := broker.Result{Outcome: broker.Accepted}
		if c.Apply(&r); r != (broker.Result{Outcome: broker.Accepted}) {
			t.Errorf("class %v makes an accepted message %v", c, r.Outcome)
		}
	}
}

func TestAClassChangesOutcomeAndScope(t *testing.T) {
	t.Parallel()
	for c, want := range map[broker.Class]broker.Result{
		broker.ClassKeep:               {Outcome: broker.Unavailable, Scope: broker.ScopeTopic},
		broker.ClassRejected:           {Outcome: broker.Rejected},
		broker.ClassMisconfigured:      {Outcome: broker.Misconfigured},
		broker.ClassTopicMisconfigured: {Outcome: broker.Misconfigured, Scope: broker.ScopeTopic},
		broker.ClassUnavailable:        {Outcome: broker.Unavailable},
		broker.ClassTopicUnavailable:   {Outcome: broker.Unavailable, Scope: broker.ScopeTopic},
		broker.ClassUnknown:            {Outcome: broker.Unknown},
		99:                             {Outcome: broker.Unavailable, Scope: broker.ScopeTopic},
	} {
		r := broker.Result{Outcome: broker.Unavailable, Scope: broker.ScopeTopic}
		if c.Apply(&r); r != want {
			t.Errorf("%v makes it %v of scope %v, want %v of %v", c, r.Outcome, r.Scope, want.Outcome, want.Scope)
		}
		if c.String() == "" {
			t.Errorf("class %d has no name", int(c))
		}
	}
	held := broker.Result{Outcome: broker.NotSent}
	if broker.ClassRejected.Apply(&held); held.Outcome != broker.NotSent {
		t.Errorf("a message that was not sent is %v", held.Outcome)
	}
}
