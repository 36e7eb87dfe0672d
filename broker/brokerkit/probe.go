package brokerkit

import (
	"context"

	"github.com/postbag/postbag/broker"
)

// Probe asks whether a server would take messages, bounded by ctx although the client
// does not heed it: ask runs in a goroutine of its own, inside the gate, and is left
// alone when ctx ends. It gives a ctx to ask that ends with it. server is what a person
// should look at: "server", "broker".
func (a Adapter) Probe(ctx context.Context, g *Gate, server string, ask func(ctx context.Context) *broker.Error) error {
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
