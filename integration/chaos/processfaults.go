package chaos

import (
	"context"
	"fmt"
	"time"
)

// processFaults are what happens to relays.
func (r *run) processFaults() []Fault {
	one := func(name string, repeats Repeats, do func(context.Context, int) error) Fault {
		return Fault{
			Name: name, Room: Processes, Repeats: repeats,
			Begin: func(ctx context.Context, s *Strike) (func(context.Context) error, error) {
				i := s.Rand.IntN(r.Relays)
				s.Note(fmt.Sprintf("relay %d", i))
				return nil, do(ctx, i)
			},
		}
	}
	return []Fault{
		one("SIGKILL of a relay", OneRelay, func(ctx context.Context, i int) error { return r.crew.kill(ctx, i) }),
		one("SIGTERM of a relay", NoRelay, func(ctx context.Context, i int) error { return r.crew.restart(ctx, i) }),
		{
			Name: "SIGKILL of all relays", Room: Processes, Repeats: EveryRelay,
			Begin: func(ctx context.Context, _ *Strike) (func(context.Context) error, error) {
				for i := range r.Relays {
					if err := r.crew.kill(ctx, i); err != nil {
						return nil, err
					}
				}
				return nil, nil
			},
		},
		{
			Name: "SIGSTOP of a relay beyond its lease", Room: Processes, Repeats: OneRelay, Least: ttl + time.Second, Most: 3 * ttl,
			Begin: func(_ context.Context, s *Strike) (func(context.Context) error, error) {
				i := s.Rand.IntN(r.Relays)
				s.Note(fmt.Sprintf("relay %d", i))
				resume, err := r.crew.freeze(i)
				return func(context.Context) error { return resume() }, err
			},
		},
	}
}
