package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
	"github.com/postbag/postbag/store/storekit"
)

// Declare implements store.Store.
func (s *Store) Declare(ctx context.Context, specs []store.Spec) error {
	var errs []error
	for _, spec := range specs {
		err := s.guarded(ctx, func(v *server) error { return s.declare(ctx, v, spec) })
		if err != nil {
			errs = append(errs, translateError("declare "+spec.Ref.String(), err))
		}
	}
	s.catalog.Store(nil)
	return errors.Join(errs...)
}

const defaultShards = 4

// declare makes one subscription, if it is missing.
func (s *Store) declare(ctx context.Context, v *server, spec store.Spec) error {
	shards := spec.Shards
	if shards == 0 {
		shards = defaultShards
	}
	if err := postbag.ValidSubscription(spec.Subscription); err != nil {
		return err
	}
	if shards < 0 || shards > store.SlotCount {
		return fmt.Errorf("%d shards; ask for 1 to %d, or for 0 to have %d", shards, store.SlotCount, defaultShards)
	}
	if err := storekit.CheckFilter(spec.Filter()); err != nil {
		return err
	}
	r, err := s.readCatalog(ctx)
	if err != nil {
		return err
	}
	box := r.boxes[spec.Box]
	if box == nil {
		return store.ErrNoBox
	}
	if spec.DeadTo != "" {
		if err := s.checkLetters(ctx, v, r, spec.Box, spec.DeadTo); err != nil {
			return err
		}
	}
	var at snapshots.Position
	if r.subs[spec.Ref] == nil {
		if gone, err := s.wasRemoved(ctx, spec.Ref); err != nil || gone {
			return err
		}
		if err := storekit.CheckNewFilter(spec.Filter()); err != nil {
			return err
		}
		if at, err = s.start(ctx, v, spec.Box, box, spec.From); err != nil {
			return err
		}
	}
	for {
		dropped, err := s.insertSubscription(ctx, v, spec, shards, at)
		if err != nil || at.Done != nil || dropped <= at.Floor {
			return err
		}
		at.Floor, at.Base = dropped, box.foreign
	}
}

// wasRemoved says whether an operator removed a subscription. One that is removed while it is declared
// is left out as well.
func (s *Store) wasRemoved(ctx context.Context, r store.Ref) (gone bool, err error) {
	err = s.run(ctx, call{
		st: s.statements.get("is_removed", ""), args: new(parameters).text(r.Box).text(r.Subscription),
		each: func(r row) error {
			c := columns{rest: r}
			gone = c.bool()
			return c.err
		},
	})
	return gone, err
}

// insertSubscription makes a subscription at a position, and compares the filter
// of one that exists. If retention has dropped what it would begin with, it is not
// made, and begins there: at the seq that is returned. Otherwise that is zero.
func (s *Store) insertSubscription(ctx context.Context, v *server, spec store.Spec, shards int, at snapshots.Position) (dropped int64, err error) {
	raw := store.Position("")
	if at.Done != nil || at.Floor > 0 {
		raw = at.Encode()
	}
	parts := store.Split(shards)
	a := new(parameters).text(spec.Box).text(spec.Subscription)
	a.texts(len(spec.Types), func(i int) string { return spec.Types[i] })
	a.int2s(len(parts), func(i int) int { return parts[i].Lo })
	a.int2s(len(parts), func(i int) int { return parts[i].Hi })
	takes, err := storekit.WhereText(spec.Where)
	if err != nil {
		return 0, err
	}
	a.text(string(raw)).int8(at.Lowest()).bool(at.Done != nil).text(takes)
	var has store.Filter
	var by string
	there, replay := false, false
	var unreadable error // the filter: a later version declared it, and this relay does not work it, and says why
	err = s.run(ctx, s.guard(v, "", nil),
		call{st: s.statements.get("lock_box", ""), args: new(parameters).text(spec.Box), each: func(r row) error {
			c := columns{rest: r}
			dropped = c.int8()
			return c.err
		}},
		call{st: s.statements.get("declare", ""), args: a},
		call{st: s.statements.get("types", ""), args: new(parameters).text(spec.Box).text(spec.Subscription), each: func(r row) error {
			c := columns{rest: r}
			has, unreadable = c.filter()
			by, there, replay = c.text(), true, c.bool()
			return c.err
		}})
	if err != nil || !there {
		return dropped, err
	}
	if replay {
		return 0, store.ErrIsReplay
	}
	if by == "" && unreadable == nil && !storekit.SameFilter(has, spec.Filter()) {
		return 0, storekit.FilterDiffers(spec.Filter(), has)
	}
	return 0, nil
}

// start returns where a new subscription begins.
func (s *Store) start(ctx context.Context, v *server, name string, box *catalogBox, from store.Start) (snapshots.Position, error) {
	switch {
	case from.Now:
		return s.startNow(ctx, v, name, box)
	case !from.At.IsZero():
		floor, err := s.search(ctx, name, from.At)
		return snapshots.Position{Floor: floor, Base: box.foreign}, err
	case from.After > 0:
		return snapshots.Position{Floor: from.After, Base: box.foreign}, nil
	default:
		return snapshots.Position{}, nil
	}
}

// startNow returns the position that has passed all that is committed, and
// nothing else, however long it has been open.
func (s *Store) startNow(ctx context.Context, v *server, name string, box *catalogBox) (snapshots.Position, error) {
	known := v.of(name)
	if err := s.run(ctx, s.bound(v, name)...); err != nil {
		return snapshots.Position{}, err
	}
	p := snapshots.Position{Life: v.era, Base: box.foreign}
	to, last, err := s.instant(ctx, name)
	if err != nil {
		return p, err
	}
	if len(to.Running) > 0 {
		if err := s.run(ctx, s.findQuiet(v, name)...); err != nil {
			return p, err
		}
	}
	known.Raise(&to, &snapshots.Position{})
	p.Done, p.High = &to, last
	return p, nil
}

// bound returns what gives a new bound without writing anything.
func (s *Store) bound(v *server, box string) group {
	var last int64
	return group{
		s.guard(v, box, &last),
		{st: s.statements.get("number", ""), each: func(r row) error {
			c := columns{rest: r}
			if y := c.int8(); c.err == nil {
				v.of(box).Add(uint64(y), last)
			}
			return c.err
		}},
	}
}

// findQuiet returns what finds the running transactions that have not written to a
// box, so that what they may write yet is known to come late.
func (s *Store) findQuiet(v *server, box string) group {
	var last int64
	return group{
		s.guard(v, box, &last),
		{st: s.statements.get("writers", box), each: func(r row) error {
			c := columns{rest: r}
			if xid, wrote := c.int8(), c.bool(); c.err == nil && !wrote {
				v.of(box).Still(uint32(xid), last)
			}
			return c.err
		}},
	}
}

// instant takes a snapshot.
func (s *Store) instant(ctx context.Context, box string) (to snapshots.Snapshot, last int64, err error) {
	err = s.run(ctx, call{st: s.statements.get("instant", box), each: func(r row) error {
		c := columns{rest: r}
		raw, _ := c.next(-1)
		last = c.int8()
		var bad error
		to, bad = snapshots.Parse(raw)
		return errors.Join(c.err, bad)
	}})
	return to, last, err
}

// searchSlack is how many seqs a row may have been stored out of the order of
// time: between drawing its seq and looking at the clock a writer may be held up.
const searchSlack = 1000

// search returns a floor below which nothing was stored at or after a time. It
// halves the log; rows are stored nearly in the order of seq.
func (s *Store) search(ctx context.Context, box string, from time.Time) (int64, error) {
	var lo, hi int64 // everything below lo is older; something in hi or above, if anything, is not
	err := s.run(ctx, call{st: s.statements.get("ends", box), each: func(r row) error {
		c := columns{rest: r}
		lo, hi = c.int8(), c.int8()+1
		return c.err
	}})
	if err != nil {
		return 0, err
	}
	first := lo
	for lo < hi {
		middle := lo + (hi-lo)/2
		seq, at, err := s.storedAt(ctx, box, middle)
		switch {
		case err != nil:
			return 0, err
		case seq == 0 || !at.Before(from):
			hi = middle
		default:
			lo = seq + 1
		}
	}
	return max(lo-1-searchSlack, first-1, 0), nil
}

// storedAt returns the first row at or after a seq, zero if there is none.
func (s *Store) storedAt(ctx context.Context, box string, from int64) (seq int64, at time.Time, err error) {
	err = s.run(ctx, call{st: s.statements.get("stored_at", box), args: new(parameters).int8(from), each: func(r row) error {
		c := columns{rest: r}
		seq, at = c.int8(), instant(c.int8())
		return c.err
	}})
	return seq, at, err
}
