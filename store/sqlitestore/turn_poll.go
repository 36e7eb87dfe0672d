package sqlitestore

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit"
)

// poll remembers Turns that only read and found nothing, so that the next one
// like it need not look at any table while nobody has committed. PRAGMA
// data_version says so: on a connection that writes nothing itself, it changes
// with every commit of any other, in this process or another
// (sqlite.org/pragma.html#pragma_data_version).
type poll struct {
	mu      sync.Mutex
	conn    *sql.Conn
	version *sql.Stmt
	answers map[store.Ref]idleAnswer // by the first request's subscription
}

// idleAnswer is a Turn that found nothing.
type idleAnswer struct {
	version int64 // of the database, when it was asked or before
	read    []store.Request
	result  store.TurnResult
	due     int64 // when the next parked message is due, in microseconds; negative: none
}

// maxIdle bounds how many Turns are remembered.
const maxIdle = 64

// turn answers a Turn from memory, or by ask, whose answer it may keep.
func (p *poll) turn(ctx context.Context, s *Store, t store.Turn, ask func() (store.TurnResult, error)) (store.TurnResult, error) {
	if !s.owned || len(t.Settle) > 0 || len(t.Read) == 0 {
		return ask()
	}
	if err := s.inPlace(); err != nil {
		return store.TurnResult{NextDue: -1}, translateError("turn", err)
	}
	now := s.micros()
	version, known, ok := p.look(ctx, s.pool(), t.Read[0].Ref)
	if !ok {
		return ask()
	}
	if known.version == version && sameRequests(known.read, t.Read) {
		return known.again(now), nil
	}
	result, err := ask()
	if err == nil && idle(t.Read, result) {
		p.keep(newIdleAnswer(version, t.Read, result, now))
	}
	return result, err
}

// look returns the version of the database, and what is remembered of a
// subscription. Where it fails, the Turn itself will say why.
func (p *poll) look(ctx context.Context, db *sql.DB, ref store.Ref) (version int64, known idleAnswer, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.connect(ctx, db)
	if err == nil {
		err = p.version.QueryRowContext(context.WithoutCancel(ctx)).Scan(&version)
	}
	if err != nil {
		p.disconnect()
		return 0, idleAnswer{}, false
	}
	return version, p.answers[ref], true
}

func (p *poll) connect(ctx context.Context, db *sql.DB) (err error) {
	if p.conn != nil {
		return nil
	}
	if p.conn, err = db.Conn(ctx); err == nil {
		p.version, err = p.conn.PrepareContext(ctx, sqlDataVersion)
	}
	return err
}

func (p *poll) keep(a idleAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.answers == nil || len(p.answers) >= maxIdle {
		p.answers = make(map[store.Ref]idleAnswer)
	}
	p.answers[a.read[0].Ref] = a
}

// close gives the connection back.
func (p *poll) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.disconnect()
}

func (p *poll) disconnect() {
	if p.version != nil {
		_ = p.version.Close()
	}
	if p.conn != nil {
		_ = p.conn.Close()
	}
	p.conn, p.version, p.answers = nil, nil, nil
}

// idle says whether a Turn brought no message, and moved no position.
func idle(read []store.Request, result store.TurnResult) bool {
	for i := range result.Batches {
		b := &result.Batches[i]
		if len(b.Records) > 0 || b.More || b.Err != nil || b.Next != read[i].From {
			return false
		}
	}
	return true
}

func newIdleAnswer(version int64, read []store.Request, result store.TurnResult, now int64) idleAnswer {
	a := idleAnswer{version: version, result: result, due: -1, read: slices.Clone(read)}
	for i := range a.read {
		a.read[i].Slots = slices.Clone(a.read[i].Slots)
	}
	if result.NextDue >= 0 {
		a.due = now + int64(result.NextDue/time.Microsecond)
	}
	return a
}

// again returns what is remembered, as of now.
func (a *idleAnswer) again(now int64) store.TurnResult {
	out := a.result
	out.Batches = slices.Clone(out.Batches)
	out.Commands = slices.Clone(out.Commands)
	if a.due >= 0 {
		out.NextDue = sqlkit.Until(a.due, now)
	}
	return out
}

func sameRequests(a, b []store.Request) bool {
	return slices.EqualFunc(a, b, func(a, b store.Request) bool {
		return a.Ref == b.Ref && a.From == b.From && a.Until == b.Until && a.Limit == b.Limit && a.Bytes == b.Bytes &&
			slices.Equal(a.Slots, b.Slots)
	})
}
