package brokerkit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/postbag/postbag/broker/brokerkit"
)

type call struct{ left, ended bool }

func TestACallIsFoundByItsNumberUntilItEnds(t *testing.T) {
	t.Parallel()
	var calls brokerkit.Calls[*call]
	one, two := &call{}, &call{}
	first, ok := calls.Begin(one)
	second, ok2 := calls.Begin(two)
	if !ok || !ok2 || first == second {
		t.Fatalf("two calls got the numbers %d (%t) and %d (%t)", first, ok, second, ok2)
	}
	if c, ok := calls.Find(second); !ok || c != two || len(calls.All()) != 2 {
		t.Errorf("call %d is not found (%t), or there are not two: %d", second, ok, len(calls.All()))
	}
	calls.End(second)
	if _, ok := calls.Find(second); ok || len(calls.All()) != 1 {
		t.Errorf("a call that has ended is found (%t), or the other is not there: %d", ok, len(calls.All()))
	}
	calls.End(first)
}

func TestCloseEndsOpenCallsAndFreesOnceAfterTheLastReturned(t *testing.T) {
	t.Parallel()
	var calls brokerkit.Calls[*call]
	c := &call{}
	number, _ := calls.Begin(c)
	calls.Enter() // counted, and not known
	freed := make(chan struct{}, 2)
	abandon := func(all []*call) {
		for _, c := range all {
			c.ended = true
		}
	}
	free := func() {
		if !c.left {
			t.Error("it is freed while a call is inside")
		}
		freed <- struct{}{}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := calls.Close(over, abandon, free); !errors.Is(err, context.Canceled) || !c.ended {
		t.Fatalf("Close with a call inside: %v, ended %t", err, c.ended)
	}
	if _, ok := calls.Begin(&call{}); ok {
		t.Error("a call begins after Close")
	}
	calls.End(number)
	c.left = true
	calls.Leave()
	for range 2 {
		if err := calls.Close(t.Context(), abandon, free); err != nil {
			t.Fatalf("Close after the last call has left: %v", err)
		}
	}
	if n := len(freed); n != 1 {
		t.Errorf("it was freed %d times", n)
	}
}
