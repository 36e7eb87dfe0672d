package pgstore

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// TrustLast makes the store believe that the last seq given out bounds what all
// transactions write from now on, without a transaction having got its id since.
// It is the mistake that loses rows, for the test that shows it.
func (s *Store) TrustLast(ctx context.Context, box string) error {
	v, err := s.on(ctx)
	if err != nil {
		return err
	}
	var last int64
	if err := s.run(ctx, s.last(box, &last)); err != nil {
		return err
	}
	v.of(box).Add(1, last)
	return nil
}

// Statements returns the names of all statements in query/*.sql, and of the parts that some are put together from.
func (s *Store) Statements() []string { return slices.Sorted(maps.Keys(s.statements.templates)) }

// Statement returns the text of a statement for a box.
func (s *Store) Statement(name, box string) string { return s.statements.get(name, box).sql }

// Passed returns the seq up to which all have passed box outbox, by what their positions say.
func (s *Store) Passed(ctx context.Context, lease store.Lease) (int64, error) {
	m, done, err := s.maintain(ctx, lease)
	if err != nil {
		return 0, err
	}
	defer done()
	return m.safe, nil
}

// DeletePassed deletes the rows of box outbox that all have passed, as housekeeping does, with what
// happens between its comparison of the ledgers and the deletion.
func (s *Store) DeletePassed(ctx context.Context, lease store.Lease, meanwhile func()) (faults []string, err error) {
	m, done, err := s.maintain(ctx, lease)
	if err != nil {
		return nil, err
	}
	defer done()
	meanwhile()
	_, err = m.deleteSome(ctx, m.safe)
	return m.report.Faults, err
}

// maintain begins a round of housekeeping of box outbox.
func (s *Store) maintain(ctx context.Context, lease store.Lease) (m *maintenance, done func(), err error) {
	v, err := s.on(ctx)
	if err != nil {
		return nil, nil, err
	}
	m = &maintenance{s: s, Retention: store.Retention{Lease: lease}, v: v, end: time.Now().Add(time.Minute)}
	if err := m.look(ctx); err != nil {
		return nil, nil, err
	}
	m.maintenanceState, done = s.maintained.of(m.Box)
	if m.safe, err = m.passedByAll(); err != nil {
		done()
		return nil, nil, err
	}
	return m, done, nil
}

// late begins a round of housekeeping of box outbox that looks for rows that came late, however short a time ago the last
// one did.
func (s *Store) late(ctx context.Context) (m *maintenance, done func(), err error) {
	m, done, err = s.maintain(ctx, store.Lease{Shard: store.Shard{Ref: store.Ref{Box: "outbox", Subscription: store.Maintenance}}})
	if err == nil {
		m.strays.last = time.Time{}
	}
	return m, done, err
}

// SearchLate looks, without a pause, for rows of box outbox that came late.
func (s *Store) SearchLate(ctx context.Context) error {
	m, done, err := s.late(ctx)
	if err != nil {
		return err
	}
	defer done()
	return m.searchLate(ctx)
}

// EndLatePause has the next round of housekeeping of box outbox look for rows that came late.
func (s *Store) EndLatePause(ctx context.Context) error {
	_, done, err := s.late(ctx)
	if err == nil {
		done()
	}
	return err
}

// NextPartition returns where the partition begins and ends that a box needs next beside those of these spans, and for how many
// messages there is room without it.
func NextPartition(spans [][2]int64, last int64, size int) (from, to, room int64) {
	var parts []partition
	for _, s := range spans {
		parts = append(parts, partition{from: s[0]*tallySpan + 1, to: s[1]*tallySpan + 1})
	}
	p, room := nextPartition("outbox", parts, last, size)
	return p.from, p.to, room
}

// WithoutPayloads leaves headers and payloads out of what pages read from now on, for a benchmark. No page was read before.
func (s *Store) WithoutPayloads() {
	t := s.statements.templates
	blank := strings.NewReplacer("THEN b.headers::json END", "THEN NULL::json END", "THEN b.payload END", `THEN '\x'::bytea END`)
	for _, part := range []string{"rows", "kept", "bounded"} {
		t[part] = blank.Replace(t[part])
	}
}

// ReadPage returns what a reader with a filter gets of a page of n rows with such headers and payloads.
func ReadPage(f store.Filter, n int, headers, payload func(i int) string) ([]store.Record, error) {
	p := newPage(1<<30, 1<<20)
	for i := range n {
		seq := binary.BigEndian.AppendUint64(nil, uint64(i+1))
		r := row{seq, {0, 1}, make([]byte, 16), seq, {1}, []byte("topic"), []byte("key"), {}, []byte("type"), []byte(headers(i)), []byte(payload(i))}
		if err := p.take(r); err != nil {
			return nil, err
		}
	}
	filter := storekit.FilterOf(f)
	return p.records("box", &filter), nil
}

// ShardTexts returns, by shard, how many bytes of its filter and settings a view reads of a subscription.
func (s *Store) ShardTexts(ctx context.Context, r store.Ref) (bytes []int, err error) {
	one := func(text string) func(int) string { return func(int) string { return text } }
	err = s.run(ctx, call{
		st: s.statements.get("shards", ""), args: new(parameters).texts(1, one(r.Box)).texts(1, one(r.Subscription)),
		each: func(shard row) error {
			bytes = append(bytes, len(shard[4])+len(shard[5])+len(shard[7]))
			return nil
		},
	})
	return bytes, err
}

// ListedAtOnce returns how many rows a listing of a box has in memory at most.
func (s *Store) ListedAtOnce(ctx context.Context, box string) (int, error) {
	l, err := s.lister(ctx, store.Query{Ref: store.Ref{Box: box}})
	if err != nil {
		return 0, err
	}
	p, err := l.piece(ctx, l.hi, lookPiece)
	return len(p.rows), err
}

// Newest asks for the highest row of a box, as a reader of a standby does.
func (s *Store) Newest(ctx context.Context, box string) error {
	return s.run(ctx, call{st: s.statements.get("newest", box)})
}
