package chaos

import (
	"context"
	"time"
)

// processFaults are what happens to relays and to producers.
func (r *run) processFaults() []Fault {
	return []Fault{
		r.crew.fault("SIGKILL of a relay", OneRelay, r.crew.kill),
		r.crew.fault("SIGTERM of a relay", NoRelay, r.crew.restart),
		r.crew.all("SIGKILL of all relays", EveryRelay, r.crew.kill),
		r.crew.frozen("SIGSTOP of a relay beyond its lease", OneRelay, ttl+time.Second, 3*ttl),
		r.producers.fault("SIGKILL of a producer", NoRelay, r.producers.kill),
		r.producers.frozen("SIGSTOP of a producer", NoRelay, time.Second, 3*ttl),
	}
}

// fault is something that is done to one of them.
func (c *crew) fault(name string, repeats Repeats, do func(context.Context, int) error) Fault {
	return Fault{
		Name: name, Room: Processes, Repeats: repeats,
		Begin: func(ctx context.Context, s *Strike) (func(context.Context) error, error) {
			return nil, do(ctx, c.draw(s))
		},
	}
}

// all is something that is done to each of them.
func (c *crew) all(name string, repeats Repeats, do func(context.Context, int) error) Fault {
	return Fault{
		Name: name, Room: Processes, Repeats: repeats,
		Begin: func(ctx context.Context, _ *Strike) (func(context.Context) error, error) {
			for i := range c.members {
				if err := do(ctx, i); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
	}
}

// frozen is one of them that stands still for a while, with the transactions that it has open.
func (c *crew) frozen(name string, repeats Repeats, least, most time.Duration) Fault {
	return Fault{
		Name: name, Room: Processes, Repeats: repeats, Least: least, Most: most,
		Begin: func(_ context.Context, s *Strike) (func(context.Context) error, error) {
			resume, err := c.freeze(c.draw(s))
			return func(context.Context) error { return resume() }, err
		},
	}
}

// draw is one of the places.
func (c *crew) draw(s *Strike) int {
	i := s.Rand.IntN(len(c.members))
	s.Note(c.place(i))
	return i
}
