package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// forgetful is a memstore that holds what a box keeps otherwise.
type forgetful struct {
	*memstore.Store
	set      func(context.Context, store.Audit, string, store.Lifetimes) error
	deploy   func(context.Context, store.Deployment) (store.BoxRetention, error)
	expired  func(context.Context, string, store.Lifetimes) (int64, error)
	maintain func(context.Context, store.Retention) (store.Report, error)
}

func (f *forgetful) SetRetention(ctx context.Context, a store.Audit, box string, l store.Lifetimes) error {
	return f.set(ctx, a, box, l)
}

func (f *forgetful) DeployRetention(ctx context.Context, d store.Deployment) (store.BoxRetention, error) {
	return f.deploy(ctx, d)
}

func (f *forgetful) Expired(ctx context.Context, box string, l store.Lifetimes) (int64, error) {
	return f.expired(ctx, box, l)
}

func (f *forgetful) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	return f.maintain(ctx, r)
}

// forget puts such a store in a database's place.
func forget(db *database, change func(*forgetful)) {
	s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
	f := &forgetful{Store: s, set: s.SetRetention, deploy: s.DeployRetention, expired: s.Expired, maintain: s.Maintain}
	change(f)
	db.Store = f
}

// setting is a store that sets other lifetimes than an operator says.
func setting(other func(*store.Lifetimes)) func(*database) {
	return func(db *database) {
		forget(db, func(f *forgetful) {
			f.set = func(ctx context.Context, a store.Audit, box string, l store.Lifetimes) error {
				other(&l)
				return f.Store.SetRetention(ctx, a, box, l)
			}
		})
	}
}

// discardsAll gives every dead message a discard, in every round.
func discardsAll(f *forgetful) {
	f.maintain = func(ctx context.Context, r store.Retention) (store.Report, error) {
		items, _, err := f.List(ctx, store.Query{Ref: ref, State: store.StateDead, Oldest: true})
		if err != nil {
			return store.Report{}, err
		}
		var seqs []int64
		for i := range items {
			seqs = append(seqs, items[i].Seq)
		}
		rep, err := f.Store.Maintain(ctx, r)
		if err != nil || len(seqs) == 0 {
			return rep, err
		}
		n, err := f.Command(ctx, store.Audit{Who: "postbag", Why: "1ms"}, ref, store.Discard, seqs)
		rep.Expired += int64(n)
		return rep, err
	}
}

// wrongRetentions are mistakes in what a box holds of its retention.
func wrongRetentions() []wrong {
	return []wrong{
		{"the relay's time goes before the box's", func(db *database) {
			forget(db, func(f *forgetful) {
				f.maintain = func(ctx context.Context, r store.Retention) (store.Report, error) {
					_ = f.Store.SetRetention(ctx, why, r.Box, store.Lifetimes{Delivered: r.Keep})
					return f.Store.Maintain(ctx, r)
				}
			})
		}, []string{"Housekeeping goes by the box, whatever the relay says"}},
		{"a relay's word is forgotten", func(db *database) {
			forget(db, func(f *forgetful) {
				f.deploy = func(ctx context.Context, d store.Deployment) (store.BoxRetention, error) {
					d.Lifetimes = store.Lifetimes{}
					return f.Store.DeployRetention(ctx, d)
				}
			})
		}, []string{"What relays say holds where operators say nothing"}},
		{"a box that does not exist is no error", func(db *database) {
			forget(db, func(f *forgetful) {
				f.deploy = func(ctx context.Context, d store.Deployment) (store.BoxRetention, error) {
					v, err := f.Store.DeployRetention(ctx, d)
					if errors.Is(err, store.ErrNoBox) {
						err = nil
					}
					return v, err
				}
			})
		}, []string{"A box that nobody says anything of has the default"}},
		{"the last word of relays counts", func(db *database) {
			forget(db, func(f *forgetful) {
				f.deploy = func(ctx context.Context, d store.Deployment) (store.BoxRetention, error) {
					v, err := f.Store.DeployRetention(ctx, d)
					v.Deployed = d.Lifetimes.Or(v.Deployed)
					return v, err
				}
			})
		}, []string{"Two relays that say different lifetimes cannot alternate"}},
		{"nobody hears that relays disagree", func(db *database) {
			forget(db, func(f *forgetful) {
				f.deploy = func(ctx context.Context, d store.Deployment) (store.BoxRetention, error) {
					d.Refused = 0
					return f.Store.DeployRetention(ctx, d)
				}
			})
		}, []string{"Two relays that say different lifetimes cannot alternate"}},
		{"a retention is set without a name", func(db *database) {
			forget(db, func(f *forgetful) {
				f.set = func(ctx context.Context, a store.Audit, box string, l store.Lifetimes) error {
					a.Who = why.Who
					return f.Store.SetRetention(ctx, a, box, l)
				}
			})
		}, []string{"A retention that is not set is refused, and one that is set is audited"}},
		{"discarded messages go with the others", setting(func(l *store.Lifetimes) { l.Discarded = 0 }), []string{
			"A discarded message stays for its time, and what is behind it",
		}},
		{"dead messages are kept for ever", setting(func(l *store.Lifetimes) { l.Dead = store.Forever }), []string{
			"A dead message whose time is over gets a discard, once",
			"A dead message that somebody has retried gets no discard",
		}},
		{"dead messages are discarded unasked", func(db *database) { forget(db, discardsAll) }, []string{
			"A dead message is as old as its death",
			"A dead message whose time is over gets a discard, once",
			"A dead message that somebody has retried gets no discard",
		}},
		{"what would go is what is there", func(db *database) {
			forget(db, func(f *forgetful) {
				f.expired = func(ctx context.Context, box string, _ store.Lifetimes) (int64, error) {
					return f.Store.Expired(ctx, box, store.Lifetimes{Delivered: time.Microsecond})
				}
			})
		}, []string{"What would go is counted"}},
	}
}
