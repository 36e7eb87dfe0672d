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
	}
	return nil
}

func (s *scene) killRelay(context.Context) error {
	pid, err := s.crew.kill()
	if err != nil {
		return err
	}
	s.kills++
	if err := s.crew.start(); err != nil {
		return err
	}
	s.screen.sayf("killed the relay (SIGKILL, process %d) and started another (process %d)", pid, s.crew.pid())
	return nil
}

func (s *scene) restartBroker(ctx context.Context) error {
	s.screen.sayf("stopping the broker for two seconds")
	if err := s.broker.restart(ctx, 2*time.Second); err != nil {
		return err
	}
	s.screen.sayf("the broker is back")
	return nil
}
