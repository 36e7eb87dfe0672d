package adapters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/integration/chaos"
)

// killable is a server.
type killable interface {
	Kill(ctx context.Context) error
	Start(ctx context.Context) error
}

// atOnce is a fault of a server that is over when it returns.
func atOnce(name string, room chaos.Room, do func(context.Context) error) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: room, Repeats: chaos.EveryRelay, Stops: true,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) { return nil, do(ctx) },
	}
}

// gone is a server killed, and back after a while; ready, if any, waits for that.
func gone(name string, room chaos.Room, s killable, ready ...func(context.Context) error) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: room, Repeats: chaos.EveryRelay, Stops: true, Least: 200 * time.Millisecond, Most: 4 * time.Second,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			return func(ctx context.Context) error {
				err := s.Start(ctx)
				for _, wait := range ready {
					err = errors.Join(err, wait(ctx))
				}
				return err
			}, s.Kill(ctx)
		},
	}
}

// freezable is a server.
type freezable interface {
	Pause() error
	Resume() error
}

// frozen is a server that does not answer for a while.
func frozen(name string, room chaos.Room, s freezable) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: room, Repeats: chaos.EveryRelay, Stops: true, Least: 500 * time.Millisecond, Most: 5 * time.Second,
		Begin: func(context.Context, *chaos.Strike) (func(context.Context) error, error) {
			return func(context.Context) error { return s.Resume() }, s.Pause()
		},
	}
}

// heldLook is how often somebody looks whether what is held was broken.
const heldLook = 200 * time.Millisecond

// held is something that a stranger holds open until its context ends; hold is called again where it is broken.
func held(name string, throughout bool, hold func(context.Context) error) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Databases, Throughout: throughout, Least: 2 * time.Second, Most: 8 * time.Second,
		Begin: func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
			ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
			ended := make(chan int)
			go func() {
				n := 0
				for ; ctx.Err() == nil; n++ {
					if hold(ctx) != nil {
						_ = chaos.Pause(ctx, heldLook) // its server is away, or was
					}
				}
				ended <- n
			}()
			return func(context.Context) error {
				cancel()
				s.Note(fmt.Sprintf("begun %d times", <-ended))
				return nil
			}, nil
		},
	}
}

// patiently does something as soon as the server takes it.
func patiently(ctx context.Context, do func() error) (err error) {
	for {
		if err = do(); err == nil {
			return nil
		}
		if chaos.Pause(ctx, 200*time.Millisecond) != nil {
			return err
		}
	}
}

// wiped is a fault after which the place is empty.
func wiped(name string, empty func(context.Context) error) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Brokers, Repeats: chaos.EveryRelay, Stops: true,
		Begin: func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
			return nil, s.Wipe(ctx, empty)
		},
	}
}
