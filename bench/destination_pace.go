package main

import (
	"context"
	"sync"
	"time"

	"github.com/postbag/postbag/broker"
)

// pace is a destination that takes everything and notes when each tenth of the
// work was done.
type pace struct {
	tenth int64

	mu    sync.Mutex
	n     int64
	marks []time.Time
}

func (p *pace) Publish(_ context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	for i := range msgs {
		report(i, broker.Result{Outcome: broker.Accepted})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.marks) == 0 {
		p.marks = append(p.marks, time.Now())
	}
	p.n += int64(len(msgs))
	for p.n >= int64(len(p.marks))*p.tenth {
		p.marks = append(p.marks, time.Now())
	}
}

// ratio is the time of the last tenth by that of the first.
func (p *pace) ratio() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.marks)
	if n < 3 {
		return 0
	}
	first, last := p.marks[1].Sub(p.marks[0]), p.marks[n-1].Sub(p.marks[n-2])
	return last.Seconds() / first.Seconds()
}

func (p *pace) Features() broker.Features   { return broker.Features{Ordered: true} }
func (p *pace) Close(context.Context) error { return nil }
