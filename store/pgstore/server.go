package pgstore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
)

// server is the server that calls are meant for: the one that the last Check, or
// the first call, accepted. Every statement that writes, and every read, looks
// whether its session is still on it, since a pool hides reconnects, and a pooler
// hides them even from the pool.
type server struct {
	// identity is the cluster's, in whose transaction ids positions speak.
	identity string
	// started is the postmaster's start, in microseconds since 2000. When it has
	// changed, identity is looked at again.
	started int64
	// life is new after a crash and on a promoted standby: transaction ids that
	// were not durable are given out again then, and seqs with them.
	life int64
	// era is of life and started: new at every start, and what positions are marked with. A folder of the server's data that
	// was put back, as it was after a clean stop, has the same life, and gives out again what it had given out since.
	era int64
	// timeline grows at each promotion of a standby.
	timeline int64
	// highest is the highest xmax of a snapshot that was seen.
	highest atomic.Uint64

	mu     sync.Mutex
	bounds map[string]*snapshots.Bounds // by box, of this era
}

// of returns what is known of a box's writers.
func (v *server) of(box string) *snapshots.Bounds {
	v.mu.Lock()
	defer v.mu.Unlock()
	b := v.bounds[box]
	if b == nil {
		b = &snapshots.Bounds{}
		v.bounds[box] = b
	}
	return b
}

// guarded runs do against the server that calls are meant for. do returns a
// refusal of postbag._refuse as it is; then the server is looked at, and unless
// it is another database, do is run again.
func (s *Store) guarded(ctx context.Context, do func(*server) error) error {
	for try := 0; ; try++ {
		v, err := s.on(ctx)
		if err != nil {
			return err
		}
		if err = do(v); err == nil || try == 3 {
			return err
		}
		switch {
		case sqlState(err) == codeRefused:
			if err := s.adopt(ctx, v); err != nil {
				return err
			}
		case s.reading != nil: // a standby would end it again, see store.Reader
			return err
		case sqlState(err) == codeDeadlock, sqlState(err) == codeSerialization:
		default:
			return err
		}
	}
}

// on returns the server that calls are meant for.
func (s *Store) on(ctx context.Context) (*server, error) {
	if v := s.server.Load(); v != nil {
		return v, nil
	}
	if err := s.adopt(ctx, nil); err != nil {
		return nil, err
	}
	return s.server.Load(), nil
}

// adopt looks at the server again, when a session was not on old. It refuses
// another database, whose positions only Check may touch.
func (s *Store) adopt(ctx context.Context, old *server) error {
	s.adopting.Lock()
	defer s.adopting.Unlock()
	if v := s.server.Load(); v != old {
		return nil // somebody else did
	}
	if s.reading != nil {
		return s.adoptReplica(ctx)
	}
	seen, err := s.look(ctx)
	if err == nil {
		err = seen.refuse()
	}
	if err != nil {
		return err
	}
	if seen.identity != seen.written || old != nil && old.identity != seen.identity {
		return fmt.Errorf("the database is %q, its positions are of %q: %w", seen.identity, seen.written, store.ErrMoved)
	}
	switch {
	case old.older(&seen):
		return errOlder
	case len(seen.renumbered) > 0:
		return renumberedError(seen.renumbered...)
	}
	s.accept(seen)
	return nil
}

// older says that the database that was seen is one of before v was seen last, by the transaction ids that it gives out. After
// a crash, which takes the life away, a few may be given out again.
func (v *server) older(seen *serverState) bool {
	return v != nil && v.life == seen.life && seen.xmax < v.highest.Load()
}

// errOlder is what an older copy of the database is told by.
var errOlder = fmt.Errorf("an older copy of the database was put in its place, what was sent since may be sent again: %w", store.ErrMoved)

// eraOf returns the era of a life in which the server was started then.
func eraOf(life, started int64) int64 { return life ^ started*0x2545F4914F6CDD1D }

// saw takes the xmax of a snapshot.
func (v *server) saw(xmax uint64) {
	for {
		if old := v.highest.Load(); old >= xmax || v.highest.CompareAndSwap(old, xmax) {
			return
		}
	}
}

// accept makes seen the server that calls are meant for.
func (s *Store) accept(seen serverState) {
	v := &server{
		identity: seen.identity, started: seen.started, life: seen.life, era: eraOf(seen.life, seen.started), timeline: seen.timeline,
		bounds: map[string]*snapshots.Bounds{},
	}
	v.saw(seen.xmax)
	if old := s.server.Load(); old != nil && old.era == v.era && old.identity == v.identity {
		old.mu.Lock()
		v.bounds = old.bounds
		old.mu.Unlock()
	}
	s.server.Store(v)
	s.catalog.Store(nil)
}

// serverState is what a look at the server showed.
type serverState struct {
	recovering     bool
	started, life  int64
	timeline       int64
	identity       string // what the server is
	written        string // what its positions are of
	reader, schema int
	number         int // server_version_num
	encoding       string
	version        string
	xmax           uint64 // of a snapshot
	renumbered     []string
}

// look reads what the session's server is, and gives it a life if a crash took
// the last one.
func (s *Store) look(ctx context.Context) (serverState, error) {
	var v serverState
	for range lookLives {
		err := s.run(ctx, call{st: s.statements.get("standby", ""), each: func(r row) error {
			c := columns{rest: r}
			v.recovering = c.bool()
			return c.err
		}})
		switch {
		case err != nil:
			return v, err
		case v.recovering:
			return v, store.ErrStandby
		}
		err = s.run(ctx, call{st: s.statements.get("look", ""), each: func(r row) error {
			c := columns{rest: r}
			v.started, v.life = c.int8(), c.int8()
			v.identity, v.written = c.text(), c.text()
			v.reader, v.schema = c.int2(), int(c.int4())
			v.number, v.encoding, v.version = int(c.int4()), c.text(), c.text()
			v.timeline = c.int8()
			v.xmax = uint64(c.int8())
			v.renumbered = c.texts()
			return c.err
		}})
		if err != nil {
			return v, schemaError(err)
		}
		if v.life != 0 {
			return v, nil
		}
		if err := s.run(ctx, call{st: s.statements.get("begin_life", "")}); err != nil {
			return v, err
		}
	}
	return v, &fault{doing: "look at the server", said: "table postbag._life has no row that counts, and takes none", fix: "run postbag migrate up, and see who writes there"}
}

// lookLives is how often a server without a life is given one: once, as a rule.
const lookLives = 3

// schemaError says of an error that shows a missing schema what it means.
func schemaError(err error) error {
	switch sqlState(err) {
	case codeNoSchema, codeNoTable, codeNoColumn, codeNoFunction:
		return store.ErrSchema
	}
	return err
}

// guard is the first statement of every transaction of ours that writes: it ends
// the transaction unless the session is on v. Before anything is written it also
// reads the last seq that box has given out; see bounds.
func (s *Store) guard(v *server, box string, last *int64) call {
	if s.reading != nil {
		return s.guardReplica(v)
	}
	name := "guard"
	a := new(parameters).int8(v.started).int8(v.life)
	if box != "" {
		name = "guard_last"
		a.int8(s.numbering(box))
	}
	return call{
		st:   s.statements.get(name, box),
		args: a,
		each: func(r row) error {
			c := columns{rest: r}
			if n := c.int8(); last != nil {
				*last = n
			}
			return c.err
		},
	}
}

// last reads the last seq that a further box has given out.
func (s *Store) last(box string, last *int64) call {
	return call{st: s.statements.get("last", box), each: func(r row) error {
		c := columns{rest: r}
		*last = c.int8()
		return c.err
	}}
}

// faults reports what no call can, at most once a second each kind.
type faults struct {
	report func(error)
	mu     sync.Mutex
	last   map[string]time.Time
}

func (f *faults) tell(kind string, err error) {
	if f.report == nil {
		return
	}
	f.mu.Lock()
	now := time.Now()
	quiet := now.Sub(f.last[kind]) < time.Second
	if !quiet {
		if f.last == nil {
			f.last = map[string]time.Time{}
		}
		f.last[kind] = now
	}
	f.mu.Unlock()
	if !quiet {
		f.report(err)
	}
}
