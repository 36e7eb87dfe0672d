package pgstore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlkit/snapshots"
	"github.com/postbag/postbag/store/storekit"
)

var (
	_ store.Tuner    = (*Store)(nil)
	_ store.Assigner = (*Store)(nil)
)

// Add implements store.Tuner.
func (s *Store) Add(ctx context.Context, a store.Audit, spec store.Spec) error {
	err := s.add(ctx, a, &spec)
	s.catalog.Store(nil)
	return translateError("add "+spec.Ref.String(), err)
}

func (s *Store) add(ctx context.Context, a store.Audit, spec *store.Spec) error {
	a, err := audited(a)
	if err != nil {
		return err
	}
	if err := storekit.CheckNewFilter(spec.Filter()); err != nil {
		return err
	}
	if err := postbag.ValidSubscription(spec.Subscription); err != nil {
		return err
	}
	if spec.Shards < 0 || spec.Shards > store.SlotCount {
		return fmt.Errorf("%d shards; ask for 1 to %d, or for 0 to have %d", spec.Shards, store.SlotCount, defaultShards)
	}
	return s.guarded(ctx, func(v *server) error {
		known, err := s.readCatalog(ctx)
		if err != nil {
			return err
		}
		box := known.boxes[spec.Box]
		switch {
		case box == nil:
			return store.ErrNoBox
		case known.subs[spec.Ref] != nil:
			return store.ErrExists
		}
		if spec.DeadTo != "" {
			if err := s.checkLetters(ctx, v, known, spec.Box, spec.DeadTo); err != nil {
				return err
			}
		}
		at, err := s.start(ctx, v, spec.Box, box, spec.From)
		if err != nil {
			return err
		}
		for {
			dropped, err := s.insertAdded(ctx, v, a, spec, at)
			if err != nil || at.Done != nil || dropped <= at.Floor {
				return err
			}
			at.Floor, at.Base = dropped, box.foreign
		}
	})
}

// insertAdded makes a subscription at a position, see insertSubscription.
func (s *Store) insertAdded(ctx context.Context, v *server, a store.Audit, spec *store.Spec, at snapshots.Position) (dropped int64, err error) {
	shards, by := spec.Shards, a.Who
	if shards == 0 {
		shards, by = defaultShards, ""
	}
	raw := store.Position("")
	if at.Done != nil || at.Floor > 0 {
		raw = at.Encode()
	}
	takes, err := storekit.WhereText(spec.Where)
	if err != nil {
		return 0, err
	}
	parts := store.Split(shards)
	p := new(parameters).text(spec.Box).text(spec.Subscription)
	p.texts(len(spec.Types), func(i int) string { return spec.Types[i] })
	p.int2s(len(parts), func(i int) int { return parts[i].Lo }).int2s(len(parts), func(i int) int { return parts[i].Hi })
	p.text(string(raw)).int8(at.Lowest()).bool(at.Done != nil).text(a.Who).text(a.Why).text(storekit.AddText(spec)).text(by).text(takes)
	var there, made bool
	err = s.run(ctx, s.guard(v, "", nil),
		call{st: s.statements.get("lock_box", ""), args: new(parameters).text(spec.Box), each: func(r row) error {
			c := columns{rest: r}
			dropped = c.int8()
			return c.err
		}},
		call{
			st: s.statements.get("add", ""), args: p,
			reset: func() { there, made = false, false },
			each: func(r row) error {
				c := columns{rest: r}
				there, made = c.bool(), c.bool()
				return c.err
			},
		})
	switch {
	case err != nil:
		return 0, err
	case there:
		return 0, store.ErrExists
	case made:
		return 0, nil
	}
	return dropped, nil
}

// Tune implements store.Tuner.
func (s *Store) Tune(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error {
	doing := "set " + r.String()
	if err := store.CheckSettings(set, reset); err != nil {
		return translateError(doing, err)
	}
	err := s.order(ctx, a, r, func(v *server, sub *catalogSubscription, a store.Audit) error {
		args := new(parameters).int4(sub.id)
		args.texts(len(set), func(i int) string { return set[i].Name }).texts(len(set), func(i int) string { return set[i].Value })
		args.texts(len(reset), func(i int) string { return reset[i] })
		return s.change(ctx, v, "tune", args.text(a.Who).text(a.Why).text(storekit.SettingsText(r, set, reset)))
	})
	return translateError(doing, err)
}

// Assigned implements store.Assigner.
func (s *Store) Assigned(ctx context.Context) (out []store.Assignment, err error) {
	err = s.run(ctx, call{
		st: s.statements.get("assigned", ""), args: new(parameters),
		reset: func() { out = nil },
		each: func(r row) error {
			c := columns{rest: r}
			a := store.Assignment{Ref: store.Ref{Box: c.text(), Subscription: c.text()}}
			if a.Destination, a.Who = store.DestinationOf(storekit.ParseSettings(c.text())); a.Destination != "" {
				out = append(out, a)
			}
			return c.err
		},
	})
	return out, translateError("read which destinations operators have given", err)
}
