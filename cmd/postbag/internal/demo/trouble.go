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
	pid, err := s.relay.kill()
	if err != nil {
		return err
	}
	s.kills++
	if err := s.relay.start(); err != nil {
		return err
	}
	s.pauses.end()
	s.screen.sayf("killed the relay (SIGKILL, process %d) and started another (process %d)", pid, s.relay.pid())
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

// killBilling kills the billing service twice, when so many orders are billed, and starts it
// again.
func (s *scene) killBilling(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, at := range []int{s.options.Orders * 2 / 10, s.options.Orders * 6 / 10} {
		for {
			applied, err := s.books.count(ctx)
			if err != nil {
				return err
			}
			if applied >= at {
				break
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
		pid, err := s.billing.kill()
		if err != nil {
			return err
		}
		s.billingKills++
		if err := s.billing.start(); err != nil {
			return err
		}
		s.screen.sayf("killed the billing service (SIGKILL, process %d) and started another (process %d)", pid, s.billing.pid())
	}
	return nil
}
