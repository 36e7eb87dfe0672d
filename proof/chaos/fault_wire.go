package chaos

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/internal/testserver"
)

// Wire is a TCP connection between clients and a server that the harness can break. An adapter puts it before its server and gives
// out its address; its faults are then the adapter's.
type Wire struct{ proxy *testserver.Proxy }

// NewWire starts a proxy to an address (host:port), which is not contacted before the first client comes.
func NewWire(target string) (*Wire, error) {
	p, err := testserver.StartProxy(target)
	if err != nil {
		return nil, err
	}
	return &Wire{proxy: p}, nil
}

// Addr is where clients connect, as host:port.
func (w *Wire) Addr() string { return w.proxy.Addr() }

// Close cuts what is open and ends the proxy. It may be called twice.
func (w *Wire) Close() error { return w.proxy.Close() }

// Faults are what can happen to the wire of relays in a room: DatabaseWire or BrokerWire.
func (w *Wire) Faults(room Room) []Fault {
	held := func(d testserver.Direction) func(context.Context, *Strike) (func(context.Context) error, error) {
		return func(context.Context, *Strike) (func(context.Context) error, error) {
			w.proxy.BlackHole(d)
			return w.resume, nil
		}
	}
	const least, most = 500 * time.Millisecond, 4 * time.Second
	return []Fault{
		{Name: "cut: " + string(room), Room: room, Repeats: EveryRelay, Begin: w.cut},
		{Name: "hung up: " + string(room), Room: room, Repeats: EveryRelay, Begin: w.hangUp},
		{Name: "refused: " + string(room), Room: room, Stops: true, Repeats: EveryRelay, Least: least, Most: most, Begin: w.refuse},
		{Name: "black hole there: " + string(room), Room: room, Stops: true, Repeats: EveryRelay, Least: least, Most: most, Begin: held(testserver.Up)},
		{Name: "black hole back: " + string(room), Room: room, Stops: true, Repeats: EveryRelay, Least: least, Most: most, Begin: held(testserver.Down)},
		{Name: "slow: " + string(room), Room: room, Repeats: EveryRelay, Least: least, Most: most, Begin: w.slow},
	}
}

func (w *Wire) cut(context.Context, *Strike) (func(context.Context) error, error) {
	w.proxy.Cut()
	return nil, nil //nolint:nilnil // it is over
}

func (w *Wire) hangUp(context.Context, *Strike) (func(context.Context) error, error) {
	w.proxy.HangUp()
	return nil, nil //nolint:nilnil // it is over
}

func (w *Wire) refuse(context.Context, *Strike) (func(context.Context) error, error) {
	err := w.proxy.Refuse()
	w.proxy.Cut()
	return w.resume, err
}

func (w *Wire) slow(_ context.Context, s *Strike) (func(context.Context) error, error) {
	by := time.Duration(50+s.Rand.IntN(250)) * time.Millisecond
	w.proxy.Delay(testserver.Up, by/2)
	w.proxy.Delay(testserver.Down, by/2)
	s.Note(by.String() + " a round trip")
	return w.resume, nil
}

func (w *Wire) resume(context.Context) error { return w.proxy.Resume() }

// Lost is the fault that an answer is lost which was certainly given: the connection is cut when answer, some bytes of the
// protocol, comes back. It happens several times while it lasts.
func (w *Wire) Lost(name string, room Room, repeats Repeats, answer string) Fault {
	return w.trap(name, room, repeats, testserver.Down, answer, testserver.CutBefore)
}

// Doubtful is the fault that the connection is cut right after a request went by: nobody knows whether it was done.
func (w *Wire) Doubtful(name string, room Room, repeats Repeats, request string) Fault {
	return w.trap(name, room, repeats, testserver.Up, request, testserver.CutAfter)
}

func (w *Wire) trap(name string, room Room, repeats Repeats, d testserver.Direction, pattern string, verdict testserver.Verdict) Fault {
	return Fault{
		Name: name, Room: room, Repeats: repeats, Least: time.Second, Most: 3 * time.Second,
		Begin: func(ctx context.Context, s *Strike) (func(context.Context) error, error) {
			ctx, cancel := context.WithCancel(ctx)
			ended := make(chan int)
			every := s.For / 4
			go func() { ended <- w.spring(ctx, d, pattern, verdict, every) }()
			return func(context.Context) error {
				cancel()
				if n := <-ended; n > 0 {
					s.Note(count(n, "time"))
				} else {
					s.Idle("nothing of the kind went by")
				}
				w.proxy.Watch(d, nil)
				return nil
			}, nil
		},
	}
}

// spring sets one trap after another until ctx ends, and returns how many sprang.
func (w *Wire) spring(ctx context.Context, d testserver.Direction, pattern string, verdict testserver.Verdict, every time.Duration) (n int) {
	for {
		trap := testserver.NewTrap(pattern, verdict)
		w.proxy.Watch(d, trap.Watch)
		select {
		case <-ctx.Done():
		case <-trap.Sprung():
		}
		select {
		case <-trap.Sprung(): // just before the end, too
			n++
		default:
		}
		if Pause(ctx, every) != nil {
			return n
		}
	}
}

// Together are the faults of several wires at a time, such as those to the nodes of a cluster.
func Together(room Room, wires ...*Wire) []Fault {
	all := wires[0].Faults(room)
	for i := range all {
		alike := []Fault{all[i]}
		for _, w := range wires[1:] {
			alike = append(alike, w.Faults(room)[i])
		}
		all[i].Begin = func(ctx context.Context, s *Strike) (func(context.Context) error, error) {
			var ends []func(context.Context) error
			var errs []error
			for _, f := range alike {
				end, err := f.Begin(ctx, s)
				errs = append(errs, err)
				if end != nil {
					ends = append(ends, end)
				}
			}
			return func(ctx context.Context) error {
				var errs []error
				for _, end := range ends {
					errs = append(errs, end(ctx))
				}
				return errors.Join(errs...)
			}, errors.Join(errs...)
		}
	}
	return all
}

// Cut cuts what is open.
func (w *Wire) Cut() { w.proxy.Cut() }

// Lead makes the wire go to another server (host:port), and cuts what is open.
func (w *Wire) Lead(target string) {
	w.proxy.Lead(target)
	w.proxy.Cut()
}
