package storetest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
	"github.com/postbag/postbag/store/storekit"
)

// usurper keeps lanes, and does some of its calls otherwise.
type usurper struct {
	*memstore.Store
	open  func(ctx context.Context, tx memTx, lane string) (store.LaneState, error)
	write func(ctx context.Context, tx memTx, lane string, epoch int64, record []byte) error
	try   func(ctx context.Context, tx memTx, fn func(context.Context) error) (failed, broken error)
}

// usurp puts other lanes in a database's place.
func usurp(db *database) *usurper {
	s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
	out := &usurper{Store: s, open: s.OpenLane, write: s.WriteLane, try: s.Try}
	db.Lanes = out
	return out
}

func (u *usurper) OpenLane(ctx context.Context, tx memTx, lane string) (store.LaneState, error) {
	return u.open(ctx, tx, lane)
}

func (u *usurper) WriteLane(ctx context.Context, tx memTx, lane string, epoch int64, record []byte) error {
	return u.write(ctx, tx, lane, epoch, record)
}

func (u *usurper) Try(ctx context.Context, tx memTx, fn func(context.Context) error) (failed, broken error) {
	return u.try(ctx, tx, fn)
}

// lanesAs changes the names of lanes on their way in. They must not become empty.
func lanesAs(change func(string) string) func(*database) {
	return func(db *database) {
		u := usurp(db)
		u.open = func(ctx context.Context, tx memTx, lane string) (store.LaneState, error) {
			return u.Store.OpenLane(ctx, tx, change(lane))
		}
		u.write = func(ctx context.Context, tx memTx, lane string, epoch int64, record []byte) error {
			return u.Store.WriteLane(ctx, tx, change(lane), epoch, record)
		}
	}
}

// recordsAs changes records on their way in.
func recordsAs(change func([]byte) []byte) func(*database) {
	return func(db *database) {
		u := usurp(db)
		u.write = func(ctx context.Context, tx memTx, lane string, epoch int64, record []byte) error {
			return u.Store.WriteLane(ctx, tx, lane, epoch, change(record))
		}
	}
}

// openedAs changes what an opening returns.
func openedAs(change func(*store.LaneState)) func(*database) {
	return func(db *database) {
		u := usurp(db)
		u.open = func(ctx context.Context, tx memTx, lane string) (store.LaneState, error) {
			now, err := u.Store.OpenLane(ctx, tx, lane)
			change(&now)
			return now, err
		}
	}
}

// seize writes a lane, no matter who has it.
func (u *usurper) seize(ctx context.Context, tx memTx, lane string, record []byte) error {
	now, err := u.Store.OpenLane(ctx, tx, lane)
	if err != nil {
		return err
	}
	return u.Store.WriteLane(ctx, tx, lane, now.Epoch, record)
}

// unfenced writes lanes without a look at the epoch.
func unfenced(db *database) {
	u := usurp(db)
	u.write = func(ctx context.Context, tx memTx, lane string, _ int64, record []byte) error {
		return u.seize(ctx, tx, lane, record)
	}
}

// oneEpoch gives a lane its epoch when it is made, and no other one.
func oneEpoch(db *database) {
	const epoch = 7
	u := usurp(db)
	u.open = func(ctx context.Context, tx memTx, lane string) (store.LaneState, error) {
		now, err := u.Store.OpenLane(ctx, tx, lane)
		now.Epoch = epoch
		return now, err
	}
	u.write = func(ctx context.Context, tx memTx, lane string, of int64, record []byte) error {
		if of != epoch {
			return store.ErrFenced
		}
		return u.seize(ctx, tx, lane, record)
	}
}

// counted counts the openings of each lane, in the transaction that opens it.
func counted(db *database) {
	type opening struct {
		lane  string
		count int64
	}
	u := usurp(db)
	var mu sync.Mutex
	counts, drawn, open := map[string]int64{}, map[opening]int64{}, map[memTx]map[string]int64{}
	u.open = func(ctx context.Context, tx memTx, lane string) (store.LaneState, error) {
		now, err := u.Store.OpenLane(ctx, tx, lane)
		if err != nil {
			return now, err
		}
		mu.Lock()
		defer mu.Unlock()
		if open[tx] == nil {
			open[tx] = map[string]int64{}
		}
		open[tx][lane] = max(open[tx][lane], counts[lane]) + 1
		drawn[opening{lane, open[tx][lane]}] = now.Epoch
		now.Epoch = open[tx][lane]
		return now, nil
	}
	u.write = func(ctx context.Context, tx memTx, lane string, epoch int64, record []byte) error {
		mu.Lock()
		of := drawn[opening{lane, epoch}]
		mu.Unlock()
		return u.Store.WriteLane(ctx, tx, lane, of, record)
	}
	db.Commit = func(ctx context.Context, tx memTx) error {
		mu.Lock()
		maps.Copy(counts, open[tx])
		mu.Unlock()
		return tx.Commit(ctx)
	}
}

// beside does what is done to lanes in transactions of their own, which commit: openings, or writes.
func beside(opens, writes bool) func(*database) {
	return func(db *database) {
		u := usurp(db)
		if opens {
			u.open = func(ctx context.Context, _ memTx, lane string) (now store.LaneState, err error) {
				err = u.InTx(ctx, func(ctx context.Context, tx memTx) (err error) {
					now, err = u.Store.OpenLane(ctx, tx, lane)
					return err
				})
				return now, err
			}
		}
		if writes {
			u.write = func(ctx context.Context, _ memTx, lane string, epoch int64, record []byte) error {
				return u.InTx(ctx, func(ctx context.Context, tx memTx) error { return u.Store.WriteLane(ctx, tx, lane, epoch, record) })
			}
		}
	}
}

// writtenAtCommit keeps records, and writes them when the transaction commits.
func writtenAtCommit(db *database) {
	type call struct {
		lane   string
		epoch  int64
		record []byte
	}
	u := usurp(db)
	var mu sync.Mutex
	kept := map[memTx][]call{}
	u.write = func(_ context.Context, tx memTx, lane string, epoch int64, record []byte) error {
		mu.Lock()
		defer mu.Unlock()
		kept[tx] = append(kept[tx], call{lane, epoch, record})
		return nil
	}
	db.Commit = func(ctx context.Context, tx memTx) error {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range kept[tx] {
			if err := u.Store.WriteLane(ctx, tx, c.lane, c.epoch, c.record); err != nil {
				return errors.Join(err, tx.Rollback(ctx))
			}
		}
		return tx.Commit(ctx)
	}
}

// hasty does not wait for a lane that another transaction has. It goes on as if there were none.
func hasty(opens bool) func(*database) {
	return func(db *database) {
		u := usurp(db)
		over := func(ctx context.Context, err error) bool {
			return errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
		}
		if opens {
			u.open = func(ctx context.Context, tx memTx, lane string) (store.LaneState, error) {
				soon, cancel := context.WithTimeout(ctx, time.Millisecond)
				defer cancel()
				now, err := u.Store.OpenLane(soon, tx, lane)
				if over(ctx, err) {
					return store.LaneState{Epoch: storekit.NewEpoch()}, nil
				}
				return now, err
			}
			return
		}
		u.write = func(ctx context.Context, tx memTx, lane string, epoch int64, record []byte) error {
			soon, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			if err := u.Store.WriteLane(soon, tx, lane, epoch, record); !over(ctx, err) {
				return err
			}
			return nil
		}
	}
}

// afterCrash has other lanes after a crash than before it.
func afterCrash(change func(u *usurper)) func(*database) {
	return func(db *database) {
		u := usurp(db)
		crash := db.Crash
		db.Crash = func(ctx context.Context) error {
			change(u)
			return crash(ctx)
		}
	}
}

// wrongLanes are mistakes of Lanes.
func wrongLanes() []wrong {
	const opens, back, rolledBack = "A new lane has no record, and each opening gives it another epoch", "An epoch does not come again when the table's rows went back", "An opening that is rolled back has not happened"
	const records, fences, unopened = "A record is there when its transaction has committed, and not when it rolled back", "Who opened a lane before cannot write it any more", "A lane that nobody opened cannot be written"
	const openWaits, writeWaits = "Opening a lane waits for the transaction that wrote it, and finds its record", "A write that waits for an opening is refused when that has committed"
	const names, large, try = "Lanes are apart, and their names are compared as bytes", "A lane's record of any bytes comes back as it was, the largest too", "Try takes back what failed, and keeps the rest of the transaction"
	const crash, ended = "After a crash a lane has its last committed record, and not that of an open transaction", "Opening a lane with a context that has ended opens nothing"
	return []wrong{
		{"a record is not fenced by the epoch", unfenced, []string{back, fences, unopened, writeWaits, crash}},
		{"an opening leaves the epoch as it is", oneEpoch, []string{opens, back, fences, writeWaits, crash}},
		{"openings are counted", counted, []string{back}},
		{"a write that is fenced says that it was made", func(db *database) {
			u := usurp(db)
			u.write = func(ctx context.Context, tx memTx, lane string, epoch int64, record []byte) error {
				if err := u.Store.WriteLane(ctx, tx, lane, epoch, record); !errors.Is(err, store.ErrFenced) {
					return err
				}
				return nil
			}
		}, []string{back, fences, unopened, writeWaits, crash}},
		{"a write that is fenced has another error", func(db *database) {
			u := usurp(db)
			u.write = func(ctx context.Context, tx memTx, lane string, epoch int64, record []byte) error {
				err := u.Store.WriteLane(ctx, tx, lane, epoch, record)
				if errors.Is(err, store.ErrFenced) {
					err = errors.New("no row was written")
				}
				return err
			}
		}, []string{back, fences, unopened, writeWaits}},
		{"epoch zero writes a lane that nobody opened", func(db *database) {
			u := usurp(db)
			u.write = func(ctx context.Context, tx memTx, lane string, epoch int64, record []byte) error {
				if epoch == 0 {
					return u.seize(ctx, tx, lane, record)
				}
				return u.Store.WriteLane(ctx, tx, lane, epoch, record)
			}
		}, []string{unopened}},
		{"a record is written outside of the transaction", beside(false, true), []string{records, openWaits, crash}},
		{"a lane is opened outside of the transaction", beside(true, false), []string{rolledBack, writeWaits}},
		{"a record is written when the transaction commits", writtenAtCommit, []string{records, fences, openWaits}},
		{"a rollback of the transaction commits its record", func(db *database) { db.Rollback = db.Commit }, []string{records, rolledBack, openWaits}},
		{"a commit loses the record", func(db *database) { db.Commit = db.Rollback }, []string{records, fences, names, large, crash}},
		{"an opening does not wait", hasty(true), []string{openWaits}},
		{"a write does not wait, and says that it was made", hasty(false), []string{writeWaits}},
		{"an opening does not heed its context", func(db *database) {
			u := usurp(db)
			u.open = func(ctx context.Context, tx memTx, lane string) (store.LaneState, error) {
				return u.Store.OpenLane(context.WithoutCancel(ctx), tx, lane)
			}
		}, []string{ended}},
		{"an opening returns no record", openedAs(func(l *store.LaneState) { l.Record = nil }), []string{records, fences, openWaits, names, large, try, crash}},
		{"a new lane has an empty record", openedAs(func(l *store.LaneState) { l.Record = append([]byte{}, l.Record...) }), []string{opens, unopened, names}},
		{"a lane has the record of another one", func(db *database) {
			u := usurp(db)
			u.open = func(ctx context.Context, tx memTx, lane string) (store.LaneState, error) {
				own, err := u.Store.OpenLane(ctx, tx, lane)
				if err != nil {
					return own, err
				}
				all, err := u.Store.OpenLane(ctx, tx, "all")
				own.Record = all.Record
				return own, err
			}
			u.write = func(ctx context.Context, tx memTx, lane string, epoch int64, record []byte) error {
				if err := u.Store.WriteLane(ctx, tx, lane, epoch, record); err != nil {
					return err
				}
				return u.seize(ctx, tx, "all", record)
			}
		}, []string{names}},
		{"names of lanes are not heeded", lanesAs(func(string) string { return "all" }), []string{names}},
		{"names of lanes lose their case", lanesAs(strings.ToLower), []string{names}},
		{"names of lanes lose their accents", lanesAs(folded), []string{names}},
		{"names of lanes lose the spaces at their end", lanesAs(func(s string) string { return strings.TrimRight(s, " ") }), []string{names}},
		{"names of lanes end at a NUL", lanesAs(func(s string) string { return "-" + toNUL(s) }), []string{names}},
		{"names of lanes are cut at 499 bytes", lanesAs(cut(store.MaxLane - 1)), []string{names}},
		{"records end at a NUL", recordsAs(func(b []byte) []byte { b, _, _ = bytes.Cut(b, []byte{0}); return b }), []string{large, names}},
		{"records are cut at 64 KiB", recordsAs(func(b []byte) []byte { return b[:min(len(b), 64<<10)] }), []string{large}},
		{"Try takes nothing back", func(db *database) {
			usurp(db).try = func(ctx context.Context, _ memTx, fn func(context.Context) error) (failed, broken error) {
				return fn(ctx), nil
			}
		}, []string{try}},
		{"Try takes everything back", func(db *database) {
			u := usurp(db)
			u.try = func(ctx context.Context, tx memTx, fn func(context.Context) error) (failed, broken error) {
				_, broken = u.Store.Try(ctx, tx, func(ctx context.Context) error {
					failed = fn(ctx)
					return errors.New("never mind")
				})
				return failed, broken
			}
		}, []string{try}},
		{"Try keeps the error to itself", func(db *database) {
			u := usurp(db)
			u.try = func(ctx context.Context, tx memTx, fn func(context.Context) error) (failed, broken error) {
				_, broken = u.Store.Try(ctx, tx, fn)
				return nil, broken
			}
		}, []string{try}},
		{"a crash loses the record", afterCrash(func(u *usurper) {
			u.open = func(ctx context.Context, tx memTx, lane string) (store.LaneState, error) {
				return u.Store.OpenLane(ctx, tx, lane+"+")
			}
		}), []string{crash}},
		{"a crash lets earlier owners write", afterCrash(func(u *usurper) {
			u.write = func(ctx context.Context, tx memTx, lane string, _ int64, record []byte) error {
				return u.seize(ctx, tx, lane, record)
			}
		}), []string{crash}},
	}
}
