package adapters

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/proof/chaos"
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
				if n := <-ended; n > 1 {
					s.Note(fmt.Sprintf("begun %d times", n))
				}
				return nil
			}, nil
		},
	}
}

// again does something over and over while a fault lasts, with pauses between. It notes how often it did and how often that was
// something special.
func again(do func(context.Context, *chaos.Strike) (bool, error), note string, every time.Duration) func(context.Context, *chaos.Strike) (func(context.Context) error, error) {
	return func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
		ctx, cancel := context.WithCancel(ctx)
		ended := make(chan [2]int)
		go func() {
			var n [2]int
			for ; ctx.Err() == nil; n[0]++ {
				if special, _ := do(ctx, s); special { // what fails is the point of it
					n[1]++
				}
				_ = chaos.Pause(ctx, every)
			}
			ended <- n
		}()
		return func(context.Context) error {
			cancel()
			n := <-ended
			s.Note(fmt.Sprintf(note, n[0], n[1]))
			return nil
		}, nil
	}
}

// connectionLimit takes every connection that a server has, while those over some wires are cut.
func connectionLimit(wires []*chaos.Wire, connect func(context.Context) (func() error, error)) chaos.Fault {
	return chaos.Fault{
		Name: "connection limit reached", Room: chaos.Databases, Repeats: chaos.EveryRelay, Stops: true, Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
			var all []func() error
			take := func() {
				for len(all) < 200 {
					closing, err := connect(ctx)
					if err != nil {
						return
					}
					all = append(all, closing)
				}
			}
			take()
			for _, w := range wires {
				w.Cut()
			}
			take() // those of the relays and producers
			s.Note(fmt.Sprintf("%d connections taken", len(all)))
			return func(context.Context) error {
				for _, closing := range all {
					_ = closing() // it may be broken
				}
				return nil
			}, nil
		},
	}
}

// dropped ends a session, with whatever it was at. It may be broken.
func dropped(conn *sql.Conn) error {
	err := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) {
		err = nil
	}
	_ = conn.Close() // it is closed
	return err
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
		Name: name, Room: chaos.Brokers, Repeats: chaos.EveryRelay, Stops: true, Wipes: true,
		Begin: func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
			return nil, s.Wipe(ctx, empty)
		},
	}
}

// ofTopic is a state of the broker in which it takes nothing of one topic. It explains no duplicate.
func ofTopic(name, topic string, begin, end func(context.Context) error) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: chaos.Brokers, Topic: topic, Outbox: true, Least: 3 * time.Second, Most: 8 * time.Second,
		Begin: func(ctx context.Context, _ *chaos.Strike) (func(context.Context) error, error) {
			if err := begin(ctx); err != nil {
				return nil, errors.Join(err, end(context.WithoutCancel(ctx)))
			}
			return end, nil
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
