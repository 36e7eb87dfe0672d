package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Reader reads boxes on a hot standby. It implements [store.Reader] and is made by [OpenReader]. It may be used concurrently until
// Close. The standby must be one of streaming replication, or of a log archive: a logical replica is none.
type Reader struct {
	s       *Store
	reached storekit.Reached
}

var (
	_               = store.Reader((*Reader)(nil))
	_ store.Primary = (*Store)(nil)
)

// OpenReader opens the boxes of a hot standby, for reading. pool stays yours: Close does not close it. Of o it takes SQLComments and
// OnFault; all else must be zero. It needs the rights that GrantConsole gives. On a primary the error is store.ErrNoReplica.
func OpenReader(ctx context.Context, pool *pgxpool.Pool, o Options) (*Reader, error) {
	if pool == nil {
		return nil, errors.New("pgstore: open a reader: pool is nil; give a *pgxpool.Pool that leads to a hot standby")
	}
	if o.Create || o.Unmigrated || o.Listen || o.ListenConfig != nil || o.Notify != 0 || len(o.Boxes)+len(o.Slots) > 0 {
		return nil, errors.New("pgstore: open a reader: a reader writes nothing, and hears nothing; leave out all of Options but SQLComments and OnFault")
	}
	s, err := newStore(pool, o)
	if err != nil {
		return nil, err
	}
	r := &Reader{s: s}
	s.reading = &r.reached
	if _, err := s.on(ctx); err != nil {
		return nil, translateError("open a reader", err)
	}
	return r, nil
}

// Close ends nothing, since the pool is yours.
func (*Reader) Close() error { return nil }

// Overview implements store.Inspector. A subscription's and a box's counts, and which relays live, are as of the time that Reached
// returned last.
func (r *Reader) Overview(ctx context.Context) (store.Overview, error) { return r.s.Overview(ctx) }

// List implements store.Inspector.
func (r *Reader) List(ctx context.Context, q store.Query) ([]store.Item, string, error) {
	return r.s.List(ctx, q)
}

// Show implements store.Inspector.
func (r *Reader) Show(ctx context.Context, box string, id postbag.ID) ([]store.Item, error) {
	return r.s.Show(ctx, box, id)
}

// Audited implements store.Reader.
func (r *Reader) Audited(ctx context.Context, limit int) ([]store.AuditEntry, error) {
	return r.s.Audited(ctx, limit)
}

// Clock implements store.Reader.
func (r *Reader) Clock(ctx context.Context) (time.Time, error) { return r.s.Clock(ctx) }

// Operation implements store.Reader.
func (r *Reader) Operation(ctx context.Context, id store.OperationID) (store.Operation, error) {
	return r.s.Operation(ctx, id)
}

// Operations implements store.Reader.
func (r *Reader) Operations(ctx context.Context, limit int) ([]store.Operation, error) {
	return r.s.Operations(ctx, limit)
}

// SeqBefore implements store.Reader.
func (r *Reader) SeqBefore(ctx context.Context, box string, at time.Time) (int64, error) {
	return r.s.SeqBefore(ctx, box, at)
}

// Floor implements store.Reader.
func (r *Reader) Floor(p store.Position) (int64, error) { return r.s.Floor(p) }

// Due implements store.Reader.
func (r *Reader) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	return r.s.Due(ctx, d)
}

// Reached implements store.Reader.
func (r *Reader) Reached(ctx context.Context, m store.Watermark) (time.Time, error) {
	at, err := r.reached.Ask(ctx, m, r.s.reached)
	return at, translateError("look how far the replica is", err)
}

// Watermark implements store.Primary.
func (s *Store) Watermark(ctx context.Context) (store.Watermark, error) {
	m := store.Watermark{At: time.Now()}
	err := s.run(ctx, call{st: s.statements.get("mark", ""), each: func(r row) error {
		c := columns{rest: r}
		m.Database = history(c.text(), c.int8(), c.int8())
		m.Place = strconv.FormatInt(c.int8(), 10)
		return c.err
	}})
	return m, translateError("mark how far the database is", schemaError(err))
}

// history names a database on a timeline.
func history(identity string, database, timeline int64) string {
	return fmt.Sprintf("%s in %d on timeline %d", identity, database, timeline)
}

// replicaState is what a look at a standby showed.
type replicaState struct {
	serverState

	database string // with its history
	place    int64
}

// lookAtReplica reads what the session's server is, and refuses what is no standby of ours.
func (s *Store) lookAtReplica(ctx context.Context) (v replicaState, err error) {
	err = s.run(ctx, call{st: s.statements.get("replica", ""), each: func(r row) error {
		c := columns{rest: r}
		v.recovering, v.started, v.identity = c.bool(), c.int8(), c.text()
		v.database, v.place = history(v.identity, c.int8(), c.int8()), c.int8()
		v.reader, v.schema, v.encoding = c.int2(), int(c.int4()), c.text()
		return c.err
	}})
	switch {
	case err != nil:
		return v, schemaError(err)
	case !v.recovering:
		return v, store.ErrNoReplica
	}
	return v, v.refuse()
}

// reached looks how many marks the standby has reached.
func (s *Store) reached(ctx context.Context, marks []store.Watermark) (n int, err error) {
	v, err := s.lookAtReplica(ctx)
	if err != nil {
		return 0, err
	}
	if known := s.server.Load(); known != nil && known.started != v.started {
		s.adopting.Lock()
		s.follow(v.serverState)
		s.adopting.Unlock()
	}
	for i := range marks {
		place, err := strconv.ParseInt(marks[i].Place, 10, 64)
		switch {
		case err != nil:
			return 0, errors.New("a mark cannot be read; take it of the primary, by Watermark")
		case marks[i].Database != v.database:
			return 0, otherDatabase(marks[i].Database, v.database)
		case place <= v.place:
			n = i + 1
		}
	}
	return n, nil
}

// otherDatabase says what of two databases differs.
func otherDatabase(primary, replica string) error {
	ours, _, _ := strings.Cut(primary, " on timeline ")
	theirs, _, _ := strings.Cut(replica, " on timeline ")
	if ours == theirs {
		return fmt.Errorf("primary and replica are on two timelines, as where one was promoted and the other does not follow it yet: %w", store.ErrOtherDatabase)
	}
	return store.ErrOtherDatabase
}

// adoptReplica has calls be meant for the standby that the session is on.
func (s *Store) adoptReplica(ctx context.Context) error {
	v, err := s.lookAtReplica(ctx)
	if err == nil {
		s.follow(v.serverState)
	}
	return err
}

// follow has calls be meant for a standby, under the lock. How far another one was says nothing of it.
func (s *Store) follow(seen serverState) {
	old := s.server.Load()
	s.accept(seen)
	if old != nil && old.started != seen.started {
		s.reading.Forget()
	}
}

// guardReplica is guard for a reader.
func (s *Store) guardReplica(v *server) call {
	return call{st: s.statements.get("guard_replica", ""), args: new(parameters).int8(v.started)}
}

// behind is how long ago the answers of a reader were of now. Of a store it is zero.
func (s *Store) behind() time.Duration {
	if s.reading == nil {
		return 0
	}
	return s.reading.Behind()
}

// newest lowers the last seq of a box to its highest row where a reader asks.
func (s *Store) newest(ctx context.Context, b *store.BoxView, dropped int64) error {
	if s.reading == nil {
		return nil
	}
	return s.run(ctx, call{st: s.statements.get("newest", b.Name), each: func(r row) error {
		c := columns{rest: r}
		b.Last = min(b.Last, max(c.int8(), dropped))
		return c.err
	}})
}
