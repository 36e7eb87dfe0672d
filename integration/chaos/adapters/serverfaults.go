package adapters

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/postbag/postbag/integration/chaos"
	"github.com/postbag/postbag/internal/testserver"
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
		one := do()
		if one == nil {
			return nil
		}
		if ctx.Err() == nil || err == nil {
			err = one // what comes when the time is over says nothing
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

const diskFull = "full disk under the broker"

// smallDisk is a file system that can be filled under a broker; nil where nobody wants it, or this process may not mount one.
func smallDisk(ctx context.Context, t chaos.Terms) (*testserver.Tmpfs, error) {
	if !t.Wants(diskFull) {
		return nil, nil //nolint:nilnil // there is none
	}
	disk, err := testserver.MountTmpfs(ctx, 1<<30)
	if errors.Is(err, testserver.ErrMissing) {
		return nil, nil //nolint:nilnil // there is none
	}
	return disk, err
}

// full is a file system that has no room for a while. after, if any, brings back what a full disk ended. Where none could be mounted
// the report says so.
func full(name string, room chaos.Room, disk *testserver.Tmpfs, after func(context.Context) error) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: room, Repeats: chaos.EveryRelay, Stops: true, Least: time.Second, Most: 4 * time.Second,
		Begin: func(_ context.Context, s *chaos.Strike) (func(context.Context) error, error) {
			if disk == nil {
				s.Note("not available: this process may not mount a file system")
				return nil, nil
			}
			ballast, err := disk.Fill(0)
			if err != nil {
				return nil, fmt.Errorf("adapters: filling a disk: %w", err)
			}
			return func(ctx context.Context) error {
				err := os.Remove(ballast)
				if after != nil {
					err = errors.Join(err, after(ctx))
				}
				return err
			}, nil
		},
	}
}

// during is a state of the broker that lasts a while, and no less long because it took its time to come.
func during(name string, begin, end func(context.Context) error) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Brokers, Repeats: chaos.EveryRelay, Stops: true, Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
			if err := begin(ctx); err != nil {
				return nil, errors.Join(err, end(context.WithoutCancel(ctx)))
			}
			return end, chaos.Pause(ctx, s.For)
		},
	}
}
