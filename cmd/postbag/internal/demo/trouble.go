package demo

import (
	"context"
	"time"
)

// trouble is something that goes wrong when so many orders are committed.
type trouble struct {
	at int
	do func(context.Context) error
}

// troubles are what goes wrong, in order.
func (s *scene) troubles() []trouble {
	n := s.options.Orders
	return []trouble{{n * 3 / 10, s.killRelay}, {n / 2, s.restartBroker}, {n * 85 / 100, s.killRelay}}
}

func (s *scene) makeTrouble(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, next := range s.troubles() {
		for s.shop.committed() < next.at {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
		if err := next.do(ctx); err != nil {
			return err
		}
		for !s.pauses.over() && s.checker.count() < s.options.Orders { // one fault at a time, so that each pause has one cause
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
	}
	return nil
}

func (s *scene) killRelay(context.Context) error {
	s.pauses.begin("the relay was killed", "until its leases ran out, which last 2 s, and another took over")
	pid, err := s.process.kill()
	if err != nil {
		return err
	}
	s.kills++
	if err := s.process.start(); err != nil {
		return err
	}
	s.pauses.end()
	s.screen.sayf("killed the relay (SIGKILL, process %d) and started another (process %d)", pid, s.process.pid())
	return nil
}

func (s *scene) restartBroker(ctx context.Context) error {
	s.screen.sayf("stopping the broker for two seconds")
	s.pauses.begin("the broker was away for 2 s", "until it was tried again")
	if err := s.broker.restart(ctx, 2*time.Second); err != nil {
		return err
	}
	s.pauses.end()
	s.screen.sayf("the broker is back")
	return nil
}
