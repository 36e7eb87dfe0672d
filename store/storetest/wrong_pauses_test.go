package storetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// paused is a memstore some of whose calls about pauses are done otherwise.
type paused struct {
	*memstore.Store
	set  func(context.Context, store.Audit, store.Pause, time.Duration) error
	end  func(context.Context, store.Audit, store.Pause) (bool, error)
	seen func([]store.Pause) []store.Pause // nil: as they are
}

func (p *paused) SetPause(ctx context.Context, a store.Audit, s store.Pause, d time.Duration) error {
	return p.set(ctx, a, s, d)
}

func (p *paused) EndPause(ctx context.Context, a store.Audit, s store.Pause) (bool, error) {
	return p.end(ctx, a, s)
}

func (p *paused) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	v, err := p.Store.Beat(ctx, b)
	v.Pauses = p.seen(v.Pauses)
	return v, err
}

func (p *paused) Overview(ctx context.Context) (store.Overview, error) {
	o, err := p.Store.Overview(ctx)
	o.Pauses = p.seen(o.Pauses)
	return o, err
}

// pausesWrong makes a mistake in pauses.
func pausesWrong(spoil func(*paused)) func(*database) {
	return func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		p := &paused{Store: s, set: s.SetPause, end: s.EndPause, seen: func(all []store.Pause) []store.Pause { return all }}
		spoil(p)
		db.Store = p
	}
}

// eachPause changes what is seen of each pause.
func eachPause(change func(*store.Pause)) func(*database) {
	return pausesWrong(func(p *paused) {
		p.seen = func(all []store.Pause) []store.Pause {
			for i := range all {
				change(&all[i])
			}
			return all
		}
	})
}

// wrongPauses are mistakes in what operators hold.
func wrongPauses() []wrong {
	const shown = "Pauses of every scope are in views and overviews, with who, why, since and end"
	return []wrong{
		{"pauses do not say who", eachPause(func(p *store.Pause) { p.Who = "" }), []string{shown}},
		{"pauses do not say their end", eachPause(func(p *store.Pause) { p.Until = time.Time{} }), []string{shown, "A pause ends at the time that it names"}},
		{"keys of pauses are cut", eachPause(func(p *store.Pause) { p.Value = p.Value[:min(len(p.Value), 255)] }), []string{shown}},
		{"pauses have no end", pausesWrong(func(p *paused) {
			p.set = func(ctx context.Context, a store.Audit, s store.Pause, d time.Duration) error {
				if err := p.Store.SetPause(ctx, a, s, d); err != nil {
					return err
				}
				s.Until = time.Time{}
				return p.Store.SetPause(ctx, a, s, 0)
			}
		}), []string{"A pause ends by the database's clock, though no relay runs"}},
		{"an end that is over is none", pausesWrong(func(p *paused) {
			p.set = func(ctx context.Context, a store.Audit, s store.Pause, d time.Duration) error {
				err := p.Store.SetPause(ctx, a, s, d)
				if errors.Is(err, store.ErrPauseOver) {
					s.Until = time.Time{}
					return p.Store.SetPause(ctx, a, s, 0)
				}
				return err
			}
		}), []string{"A pause ends at the time that it names", "A pause that cannot be is refused, and nothing is written"}},
		{"a pause is ended for all subscriptions", pausesWrong(func(p *paused) {
			p.end = func(ctx context.Context, a store.Audit, s store.Pause) (bool, error) {
				ended, err := p.Store.EndPause(ctx, a, s)
				if other := s; err == nil && s.Ref == ref {
					other.Subscription = "other"
					_, _ = p.Store.EndPause(ctx, a, other)
				}
				return ended, err
			}
		}), []string{"Of pauses one is ended by hand, and the others stay"}},
		{"every end says that there was a pause", pausesWrong(func(p *paused) {
			p.end = func(ctx context.Context, a store.Audit, s store.Pause) (bool, error) {
				_, err := p.Store.EndPause(ctx, a, s)
				return err == nil, err
			}
		}), []string{"Of pauses one is ended by hand, and the others stay"}},
		{"a pause that is said again begins again", pausesWrong(func(p *paused) {
			p.set = func(ctx context.Context, a store.Audit, s store.Pause, d time.Duration) error {
				_, _ = p.Store.EndPause(ctx, a, s)
				return p.Store.SetPause(ctx, a, s, d)
			}
		}), []string{
			"A pause that is said again takes the place of the first, and began when that did",
			"The epoch changes as a pause begins, as it is ended, and as it ends",
		}},
		{"a pause that is said again is left as it was", pausesWrong(func(p *paused) {
			p.set = func(ctx context.Context, a store.Audit, s store.Pause, d time.Duration) error {
				o, err := p.Store.Overview(ctx)
				for i := range o.Pauses {
					if o.Pauses[i].Same(&s) {
						return err
					}
				}
				return p.Store.SetPause(ctx, a, s, d)
			}
		}), []string{"A pause that is said again takes the place of the first, and began when that did"}},
		{"pauses of no subscription are taken", pausesWrong(func(p *paused) {
			p.set = func(ctx context.Context, a store.Audit, s store.Pause, d time.Duration) error {
				if err := p.Store.SetPause(ctx, a, s, d); !errors.Is(err, store.ErrNoSubscription) {
					return err
				}
				return nil
			}
		}), []string{"A pause that cannot be is refused, and nothing is written"}},
		{"pauses are not audited", pausesWrong(func(p *paused) {
			p.set = func(ctx context.Context, a store.Audit, s store.Pause, d time.Duration) error {
				return p.Store.SetPause(ctx, store.Audit{Who: a.Who, Why: "none"}, s, d)
			}
		}), []string{"Pauses are audited with who, why, what and end", shown}},
		{"pauses have no bound", pausesWrong(func(p *paused) {
			p.set = func(ctx context.Context, a store.Audit, s store.Pause, d time.Duration) error {
				if err := p.Store.SetPause(ctx, a, s, d); !errors.Is(err, store.ErrTooManyPauses) {
					return err
				}
				return nil
			}
		}), []string{"As many pauses as there can be are taken, and no more"}},
		{"what pauses hold is not found", due(func(d *store.Due) {
			d.Topics = slices.DeleteFunc(slices.Clone(d.Topics), store.HeldByPause)
		}), []string{"Messages that a pause holds are found by its name"}},
		{"a view hides pauses", pausesWrong(func(p *paused) {
			p.seen = func([]store.Pause) []store.Pause { return nil }
		}), []string{shown, "A pause of a whole subscription and its flag are one"}},
	}
}
