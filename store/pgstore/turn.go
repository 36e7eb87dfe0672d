package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
)

// Turn implements store.Store.
func (s *Store) Turn(ctx context.Context, t store.Turn) (store.TurnResult, error) {
	var res store.TurnResult
	err := s.guarded(ctx, func(v *server) error {
		res = store.TurnResult{}
		return s.turn(ctx, v, t, &res)
	})
	if err != nil {
		return store.TurnResult{}, translateError("turn", err)
	}
	return res, nil
}

// turning is one turn at work.
type turning struct {
	s       *Store
	v       *server
	catalog *catalog
	t       store.Turn
	settle  *settling
	first   []store.Verdict // what was superseded before the settlements are applied
	reads   []*reader
	scopes  scopes
	facts   facts
}

func (s *Store) turn(ctx context.Context, v *server, t store.Turn, res *store.TurnResult) error {
	w := &turning{s: s, v: v, t: t}
	if err := w.do(ctx); err != nil {
		return err
	}
	if w.settle != nil {
		w.settle.addFirst(w.first)
		res.Verdicts = w.settle.verdicts
	}
	for _, rd := range w.reads {
		res.Batches = append(res.Batches, rd.batch)
	}
	res.Epoch, res.Life = w.facts.epoch, w.v.timeline
	res.NextDue = nextDue(w.facts.due)
	s.noted(w.catalog, w.facts.epoch)
	if !w.facts.commands {
		return nil
	}
	var err error
	res.Commands, err = s.commands(ctx, &w.scopes)
	return err
}

// do settles and reads. What the server refuses for a dead letter is done without it.
func (w *turning) do(ctx context.Context) error {
	if err := w.prepare(ctx); err != nil {
		return err
	}
	if err := w.supersedeFirst(ctx); err != nil {
		return err
	}
	if !w.settle.hasLetters() {
		return w.work(ctx)
	}
	if err := w.readLetters(ctx); err != nil {
		return err
	}
	err := w.work(ctx)
	if refused := w.refusedLetters(ctx, err); refused != nil {
		list := w.settle.letters.list
		*w = turning{s: w.s, v: w.v, t: w.t, first: w.first}
		if err := w.prepare(ctx); err != nil {
			return err
		}
		w.settle.leaveOut(w.first)
		w.settle.letters = letters{list: list, refused: refused}
		err = w.work(ctx)
	}
	if err == nil {
		w.settle.tell()
		w.wakeLetters()
	}
	return err
}

// prepare looks names up and positions through.
func (w *turning) prepare(ctx context.Context) error {
	if w.t.Life != 0 && w.t.Life != w.v.timeline {
		return fmt.Errorf("a turn of timeline %d, and this is timeline %d: %w", w.t.Life, w.v.timeline, store.ErrRestarted)
	}
	var err error
	if w.catalog, err = w.catalogOf(ctx); err != nil {
		return err
	}
	for _, st := range w.t.Settle {
		sub := w.catalog.subs[st.Ref]
		if sub == nil {
			continue
		}
		w.scopes.add(sub, st.Slots)
		if _, err := w.position(ctx, sub, st.To); err != nil {
			return err
		}
	}
	for _, q := range w.t.Read {
		rd, err := w.reader(ctx, q)
		if err != nil {
			return err
		}
		w.reads = append(w.reads, rd)
	}
	if len(w.t.Settle) > 0 {
		w.settle = newSettling(w.catalog, w.t.Settle)
	}
	return nil
}

// catalogOf returns a catalog that knows all that the turn names, if there is one.
func (w *turning) catalogOf(ctx context.Context) (*catalog, error) {
	r, err := w.s.known(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range w.t.Read {
		if r.subs[q.Ref] == nil {
			return w.s.readCatalog(ctx)
		}
	}
	for _, st := range w.t.Settle {
		if sub := r.subs[st.Ref]; sub == nil || sub.shard(st.Slots) == 0 {
			return w.s.readCatalog(ctx)
		}
	}
	return r, nil
}

// reader begins a request. Its error is one that ends the turn.
func (w *turning) reader(ctx context.Context, q store.Request) (*reader, error) {
	rd := &reader{q: q}
	sub := w.catalog.subs[q.Ref]
	switch {
	case sub == nil && w.catalog.boxes[q.Box] == nil:
		return rd.fail(store.ErrNoBox), nil
	case sub == nil:
		return rd.fail(store.ErrNoSubscription), nil
	case sub.unreadable():
		return rd.fail(sub.fault), nil
	}
	w.scopes.add(sub, q.Slots...)
	from, err := w.position(ctx, sub, q.From)
	if err == nil {
		var until snapshots.Position
		if until, err = w.position(ctx, sub, q.Until); err == nil {
			return newReader(q, sub, from, until), nil
		}
	}
	if errors.Is(err, store.ErrPosition) {
		return rd.fail(err), nil
	}
	return nil, err
}

// position decodes a position and refuses one that was read before the server was
// started, unless it was settled. The settling or reading statement itself makes sure that
// its session is on the server whose life this is.
func (w *turning) position(ctx context.Context, sub *catalogSubscription, raw store.Position) (snapshots.Position, error) {
	p, err := snapshots.Decode(raw)
	if err != nil || p.Life == w.v.era || p.Done == nil && p.To == nil {
		return p, err
	}
	stored := false
	err = w.s.run(ctx, call{
		st:   w.s.statements.get("stored", ""),
		args: new(parameters).int4(sub.id).text(string(raw)),
		each: func(r row) error {
			c := columns{rest: r}
			stored = c.bool()
			return c.err
		},
	})
	if err == nil && !stored {
		err = fmt.Errorf("a position of %s: %w", sub.ref, store.ErrRestarted)
	}
	return p, err
}

// work settles and reads until every request has its answer.
func (w *turning) work(ctx context.Context) error {
	first := true
	for {
		groups, reads := w.groups(first)
		if len(groups) == 0 {
			return nil
		}
		errs, err := w.s.pipeline(ctx, groups...)
		if err != nil {
			return err
		}
		settled := len(groups) - max(len(reads), 1)
		for _, err := range errs[:settled] {
			if err != nil {
				return err
			}
		}
		if first && w.settle != nil {
			w.settle.learn(w.v)
		}
		if len(reads) == 0 {
			return cmp.Or(errs[settled], w.on(&w.facts))
		}
		for i, rd := range reads {
			if err := w.landed(ctx, rd, errs[settled+i]); err != nil {
				return err
			}
		}
		first = false
	}
}

// groups returns what to send: the settlements, the first time, and the reads
// that are not answered. One that settles and reads nothing asks for the facts.
func (w *turning) groups(first bool) ([]group, []*reader) {
	var out []group
	var reads []*reader
	if first && w.settle != nil {
		out = append(out, w.s.planned(w.settle.group(w.s, w.v)))
	}
	w.scopes.told = false
	for _, rd := range w.reads {
		if rd.now {
			continue
		}
		if first {
			rd.scope(w.s.hints.get(rd.q.Ref))
			out = append(out, w.renewBounds(rd)...)
		}
		reads = append(reads, rd)
	}
	for _, rd := range reads {
		g := group{rd.call(w.s, &w.scopes)}
		if rd.hint.dry < dryPolls {
			g = w.s.planned(g)
		}
		out = append(out, g)
	}
	if len(reads) == 0 && !w.facts.come {
		a := new(parameters)
		w.scopes.append(a)
		g := group{{st: w.s.statements.askStatement(), args: a, each: func(r row) error {
			return w.facts.readState(r[0])
		}}}
		if w.settle != nil {
			g = w.s.planned(g)
		}
		out = append(out, g)
	}
	return out, reads
}

// planned begins a transaction with the statement that says how to plan the others.
func (s *Store) planned(g group) group {
	return append(group{{st: s.statements.get("planning", "")}}, g...)
}

// dryPolls is after how many reads that found nothing a statement may cost a plan:
// it is made seldom by then, and alone.
const dryPolls = 16

// renewBounds returns what gives better bounds, when there is none yet, when a poll
// would look through too much again and the turn settles nothing, which would give
// one, or when an old transaction would have much read again once it ends.
func (w *turning) renewBounds(rd *reader) []group {
	known := w.v.of(rd.q.Box)
	if rd.form.window || rd.until != nil {
		return nil
	}
	var out []group
	if known.Wanted(w.settle != nil) {
		out = append(out, w.s.bound(w.v, rd.q.Box))
	}
	if known.LookForQuiet(&rd.at, time.Now()) {
		out = append(out, w.s.findQuiet(w.v, rd.q.Box))
	}
	return out
}

// landed takes a read's answer. The error ends the turn.
func (w *turning) landed(ctx context.Context, rd *reader, err error) error {
	f := &rd.page.facts
	switch {
	case err != nil && isServerError(err) && !standbyRead(err):
		rd.fail(err)
		return nil
	case err != nil:
		return err
	}
	if err := w.on(f); err != nil {
		return err
	}
	if !w.facts.come {
		w.facts = *f
	}
	if err := w.numbered(rd, f); err != nil {
		return err
	}
	w.v.saw(f.snapshot.XMax)
	w.v.of(rd.q.Box).Saw(f.last)
	if renewed, err := w.renew(ctx, rd, f.epoch); err != nil || renewed {
		return err
	}
	if rd.again() {
		rd.hint.bounded = boundedPages
		rd.form.bounded = true
		return nil
	}
	rd.finish(w.v, &w.s.hints)
	if rd.page.foreign {
		w.s.faults.tell("slot", fmt.Errorf("pgstore: a row of box %q was stored with a slot that is not its key's, so that its order "+
			"is not kept; have producers leave the column place alone", rd.q.Box))
	}
	return nil
}

// renew has a read made again whose answer shows another epoch than that of the catalog, if its
// subscription is another one by now, or has another filter.
func (w *turning) renew(ctx context.Context, rd *reader, epoch int64) (bool, error) {
	if w.catalog.epoch == epoch {
		return false, nil
	}
	known, err := w.s.readCatalog(ctx)
	if err != nil {
		return false, err
	}
	w.catalog = known
	sub := known.subs[rd.q.Ref]
	switch {
	case sub == nil:
		rd.fail(store.ErrNoSubscription)
		return true, nil
	case sub.unreadable():
		rd.fail(sub.fault)
		return true, nil
	case sub.id == rd.sub.id && sub.filter.same(&rd.sub.filter):
		return false, nil
	}
	again, err := w.reader(ctx, rd.q)
	if err == nil {
		again.scope(w.s.hints.get(rd.q.Ref))
		*rd = *again
	}
	return true, err
}

// on says whether the facts are of the server that the turn is meant for.
func (w *turning) on(f *facts) error {
	switch {
	case !f.come:
		return errNoFacts
	case f.recovering:
		return store.ErrStandby
	case f.life != w.v.life || f.started != w.v.started:
		return refusal()
	}
	return nil
}

// refusal is postbag._refuse's error, for what is noticed on this side.
func refusal() error {
	return &pgconn.PgError{Severity: "ERROR", Code: codeRefused, Message: "this server session is not the one that was checked"}
}
