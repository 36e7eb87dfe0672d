package brokerkit

import (
	"context"

	"github.com/postbag/postbag/broker"
)

// Probe asks whether a server would take messages. It returns when ctx ends, even if the
// client ignores its context: ask runs in a goroutine of its own, inside the guard, and
// Probe does not wait for it after ctx. The ctx that ask gets ends with Probe. server is
// the word for what a person should look at: "server", "broker".
func (a Adapter) Probe(ctx context.Context, g *CallGuard, server string, ask func(ctx context.Context) *broker.Error) error {
	if !g.Enter() {
		return &broker.Error{Outcome: broker.Unavailable, Err: broker.ErrClosed}
	}
	work, cancel := context.WithCancel(ctx)
	answer := make(chan *broker.Error, 1)
	go func() {
		defer g.Leave()
		defer cancel()
		answer <- ask(work)
	}()
	select {
	case f := <-answer:
		if f != nil {
			return f
		}
		return nil
	case <-ctx.Done():
		return a.Failure(broker.Unavailable, "the probe had no answer in time", "wait, or look whether the "+server+" runs")
	}
}
