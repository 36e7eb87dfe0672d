package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

type (
	markFunc  = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error)
	memTx     = *memstore.Tx
	storeMark = store.Mark
)

// forger is an inbox some of whose calls are done otherwise.
type forger struct {
	*memstore.Store
	mark      markFunc
	forget    func(context.Context) (store.Forgotten, error)
	declare   func(context.Context, string, time.Duration) error
	consumers func(context.Context) ([]store.Consumer, error)
}

// forge puts another inbox in a database's place.
func forge(db *database) *forger {
	s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
	out := &forger{Store: s, mark: s.Mark, forget: s.Forget, declare: s.DeclareConsumer, consumers: s.Consumers}
	db.Inbox = out
	return out
}

func (f *forger) Mark(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
	return f.mark(ctx, tx, consumer, marks)
}

func (f *forger) Forget(ctx context.Context) (store.Forgotten, error) { return f.forget(ctx) }

func (f *forger) DeclareConsumer(ctx context.Context, consumer string, keep time.Duration) error {
	return f.declare(ctx, consumer, keep)
}

func (f *forger) Consumers(ctx context.Context) ([]store.Consumer, error) { return f.consumers(ctx) }

// idsAs changes ids on their way in.
func idsAs(change func(string) string) func(*database) {
	return marksAs(func(m *storeMark) { m.ID = store.MessageID(change(string(m.ID))) })
}

// marksAs changes marks on their way in. Ids must not become empty.
func marksAs(change func(*storeMark)) func(*database) {
	return func(db *database) {
		f := forge(db)
		f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
			marks = slices.Clone(marks)
			for i := range marks {
				id := marks[i].ID
				change(&marks[i])
				marks[i].ID = cmp.Or(marks[i].ID, id)
			}
			return f.Store.Mark(ctx, tx, consumer, marks)
		}
	}
}

// namesAs changes the names of consumers on their way in.
func namesAs(change func(string) string) func(*database) {
	return func(db *database) {
		f := forge(db)
		f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
			return f.Store.Mark(ctx, tx, change(consumer), marks)
		}
	}
}

// answeredAs changes the answers to marks.
func answeredAs(change func(marks []store.Mark, fresh []bool) []bool) func(*database) {
	return func(db *database) {
		f := forge(db)
		f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
			fresh, err := f.Store.Mark(ctx, tx, consumer, marks)
			if err != nil {
				return nil, err
			}
			return change(marks, fresh), nil
		}
	}
}

// aside marks in a transaction of its own, which commits.
func aside(db *database) {
	f := forge(db)
	f.mark = func(ctx context.Context, _ memTx, consumer string, marks []store.Mark) (fresh []bool, err error) {
		err = f.InTx(ctx, func(ctx context.Context, tx memTx) error {
			fresh, err = f.Store.Mark(ctx, tx, consumer, marks)
			return err
		})
		return fresh, err
	}
}

// notWaiting gives up soon, and answers as if nobody had marked.
func notWaiting(answer bool) func(*database) {
	return func(db *database) {
		f := forge(db)
		f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
			soon, cancel := context.WithTimeout(ctx, 20*time.Microsecond)
			defer cancel()
			fresh, err := f.Store.Mark(soon, tx, consumer, marks)
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				fresh, err = slices.Repeat([]bool{answer}, len(marks)), nil
			}
			return fresh, err
		}
	}
}

// deaf waits on, and does not heed its context.
func deaf(db *database) {
	f := forge(db)
	f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
		long, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		return f.Store.Mark(long, tx, consumer, marks)
	}
}

// unsorted marks one after another, in the caller's sequence, as the writer of a loop does.
func unsorted(db *database) {
	f := forge(db)
	f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) (all []bool, err error) {
		for _, m := range marks {
			fresh, err := f.Store.Mark(ctx, tx, consumer, []store.Mark{m})
			if err != nil {
				return nil, err
			}
			all = append(all, fresh...)
			<-time.After(50 * time.Microsecond) // a round trip
		}
		return all, nil
	}
}

// snapshotReader reads what was there when the transaction began: it does not see what was committed since.
func snapshotReader(db *database) {
	f := forge(db)
	var mu sync.Mutex
	old := map[memTx]bool{}
	db.Snapshot = func(ctx context.Context) (memTx, error) {
		tx, err := db.Begin(ctx)
		mu.Lock()
		defer mu.Unlock()
		old[tx] = true
		return tx, err
	}
	f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
		fresh, err := f.Store.Mark(ctx, tx, consumer, marks)
		mu.Lock()
		defer mu.Unlock()
		if old[tx] {
			return slices.Repeat([]bool{true}, len(marks)), err
		}
		return fresh, err
	}
}

// forgotten changes what Forget says.
func forgotten(change func(*store.Forgotten)) func(*database) {
	return func(db *database) {
		f := forge(db)
		f.forget = func(ctx context.Context) (store.Forgotten, error) {
			out, err := f.Store.Forget(ctx)
			change(&out)
			return out, err
		}
	}
}

// declaredAs declares other things than what is asked.
func declaredAs(change func(string, time.Duration) (string, time.Duration)) func(*database) {
	return func(db *database) {
		f := forge(db)
		f.declare = func(ctx context.Context, name string, keep time.Duration) error {
			name, keep = change(name, keep)
			return f.Store.DeclareConsumer(ctx, name, keep)
		}
	}
}

// oneAtATime lets calls of Forget wait for each other.
func oneAtATime(db *database) {
	f := forge(db)
	var mu sync.Mutex
	f.forget = func(ctx context.Context) (store.Forgotten, error) {
		mu.Lock()
		defer mu.Unlock()
		return f.Store.Forget(ctx)
	}
}

// patient lets Forget wait for open transactions that have marks.
func patient(db *database) {
	f := forge(db)
	var open sync.WaitGroup
	begun := map[memTx]bool{}
	var mu sync.Mutex
	f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
		mu.Lock()
		defer mu.Unlock()
		if !begun[tx] {
			begun[tx] = true
			open.Add(1)
		}
		return f.Store.Mark(ctx, tx, consumer, marks)
	}
	db.Commit = func(ctx context.Context, tx memTx) error {
		mu.Lock()
		defer mu.Unlock()
		if begun[tx] {
			open.Done()
		}
		return tx.Commit(ctx)
	}
	f.forget = func(ctx context.Context) (store.Forgotten, error) {
		free := make(chan struct{})
		go func() {
			open.Wait()
			close(free)
		}()
		select {
		case <-free:
			return f.Store.Forget(ctx)
		case <-time.After(time.Second):
			return store.Forgotten{}, store.ErrAgain
		}
	}
}

// lastWalk is a Forget that forgets after its first walk that there may be another.
func lastWalk(db *database) {
	f := forge(db)
	done := false
	f.forget = func(ctx context.Context) (store.Forgotten, error) {
		if done {
			return store.Forgotten{Done: true}, nil
		}
		out, err := f.Store.Forget(ctx)
		done = out.Done && out.Removed > 0
		return out, err
	}
}

func cut(n int) func(string) string { return func(s string) string { return s[:min(n, len(s))] } }

func toNUL(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s }

// folded is what a collation without accents makes of a text.
func folded(s string) string {
	return strings.NewReplacer("é", "e", "e\u0301", "e", "í", "i", "i\u0301", "i").Replace(s)
}

// wrongMarks are mistakes of Mark.
func wrongMarks() []wrong {
	const twice, rolledBack = "A mark is fresh once: not again in its transaction, nor in a later one", "A mark that was rolled back is fresh again"
	const asBytes, lengths, apart = "Ids of messages are compared as bytes", "Ids of one byte, and ids as long as they may be, are each their own", "Consumers are apart, and their names are compared as bytes"
	const sums, zero = "The same sum is a known mark, another sum is ErrOtherBytes", "A zero sum compares nothing, on either side"
	const afterCommit, afterRollback = "A mark waits for the transaction that marked its id, and is known when that commits", "A mark waits for the transaction that marked its id, and is fresh when that rolls back"
	const many = "Many mark the same ids and some roll back: each id is committed as fresh once"
	return []wrong{
		{"every mark is fresh", answeredAs(func(_ []store.Mark, fresh []bool) []bool { return slices.Repeat([]bool{true}, len(fresh)) }), []string{twice, many, apart, sums, zero}},
		{"no mark is fresh", answeredAs(func(_ []store.Mark, fresh []bool) []bool { return make([]bool, len(fresh)) }), []string{twice, rolledBack, many, apart}},
		{"a mark stays when its transaction rolls back", aside, []string{rolledBack, afterRollback, "A mark that a savepoint rolled back is fresh again"}},
		{"a mark stays when its savepoint rolls back", func(db *database) {
			db.RollbackTo = func(context.Context, memTx, string) error { return nil }
		}, []string{"A mark that a savepoint rolled back is fresh again"}},
		{"a rollback of the transaction commits its marks", func(db *database) { db.Rollback = db.Commit }, []string{rolledBack, afterRollback, many}},
		{"a commit loses the marks", func(db *database) { db.Commit = db.Rollback }, []string{twice, afterCommit, many, "Several calls of Mark in one transaction are committed together"}},
		{"a mark does not wait, and is known", notWaiting(false), []string{afterCommit, afterRollback, "A prepared transaction that is rolled back frees its marks"}},
		{"a mark does not wait, and is fresh", notWaiting(true), []string{afterCommit, afterRollback, many, "A prepared transaction holds its marks until it is committed"}},
		{"a mark waits on after its context has ended", deaf, []string{"A mark stops waiting when its context ends", "Mark with a context that has ended marks nothing"}},
		{"marks are locked in the sequence of the caller", unsorted, []string{"Calls that mark the same ids in opposite sequence do not deadlock"}},
		{"a circle is waited for", func(db *database) {
			f := forge(db)
			f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
				fresh, err := f.Store.Mark(ctx, tx, consumer, marks)
				if errors.Is(err, store.ErrAgain) {
					<-ctx.Done()
					err = ctx.Err()
				}
				return fresh, err
			}
		}, []string{"Of two transactions that mark in a circle, one gets ErrAgain"}},
		{"a deadlock is another error", func(db *database) {
			f := forge(db)
			f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
				fresh, err := f.Store.Mark(ctx, tx, consumer, marks)
				if errors.Is(err, store.ErrAgain) {
					err = errors.New("deadlock; look into the log")
				}
				return fresh, err
			}
		}, []string{"Of two transactions that mark in a circle, one gets ErrAgain"}},
		{"one mark locks a whole consumer", func(db *database) {
			f := forge(db)
			f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
				fresh, err := f.Store.Mark(ctx, tx, consumer, append(slices.Clone(marks), store.Mark{ID: "\x00all"}))
				if err != nil {
					return nil, err
				}
				return fresh[:len(marks)], nil
			}
		}, []string{"Transactions that mark other ids, or for other consumers, do not wait"}},
		{"an old snapshot is believed", snapshotReader, []string{"A mark is never fresh because its transaction reads an old snapshot"}},
		{"ids lose their case", idsAs(strings.ToLower), []string{asBytes, lengths}},
		{"ids lose their accents", idsAs(folded), []string{asBytes}},
		{"ids lose the spaces at their end", idsAs(func(s string) string { return strings.TrimRight(s, " ") }), []string{asBytes, lengths}},
		{"ids end at a NUL", idsAs(toNUL), []string{asBytes, lengths}},
		{"ids are made valid text", idsAs(func(s string) string { return string(bytes.ToValidUTF8([]byte(s), []byte("\ufffd"))) }), []string{asBytes, lengths}},
		{"ids are cut at 254 bytes", idsAs(cut(254)), []string{lengths}},
		{"names of consumers are not heeded", namesAs(func(string) string { return "all" }), []string{apart, "The same sum is a known mark, another sum is ErrOtherBytes"}},
		{"names of consumers lose their case", namesAs(strings.ToLower), []string{apart}},
		{"names of consumers lose their accents", namesAs(folded), []string{apart}},
		{"names of consumers lose the spaces at their end", namesAs(func(s string) string { return strings.TrimRight(s, " ") }), []string{apart}},
		{"names of consumers are cut at 99 bytes", namesAs(cut(99)), []string{apart}},
		{"name and id run into each other", func(db *database) {
			f := forge(db)
			f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
				marks = slices.Clone(marks)
				for i := range marks {
					marks[i].ID = store.MessageID(consumer) + marks[i].ID
					marks[i].ID = marks[i].ID[:min(255, len(marks[i].ID))]
				}
				return f.Store.Mark(ctx, tx, "all", marks)
			}
		}, []string{apart}},
		{"sums are not compared", marksAs(func(m *storeMark) { m.Sum = store.Sum{} }), []string{sums, zero, "Two sums for one id in one call are ErrOtherBytes"}},
		{"of a sum the first bytes are compared", marksAs(func(m *storeMark) { clear(m.Sum[16:]) }), []string{sums}},
		{"a zero sum is a sum", marksAs(func(m *storeMark) { m.Sum[7] = 1 }), []string{zero}},
		{"a mark without a sum takes the next one", lateSums, []string{zero}},
		{"another sum is another error", func(db *database) {
			f := forge(db)
			f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
				fresh, err := f.Store.Mark(ctx, tx, consumer, marks)
				if errors.Is(err, store.ErrOtherBytes) {
					err = store.ErrAgain
				}
				return fresh, err
			}
		}, []string{sums}},
		{"the error of another sum names nothing", func(db *database) {
			f := forge(db)
			f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
				fresh, err := f.Store.Mark(ctx, tx, consumer, marks)
				if errors.Is(err, store.ErrOtherBytes) {
					err = store.ErrOtherBytes
				}
				return fresh, err
			}
		}, []string{sums}},
		{"each of the marks of one id in a call is fresh", answeredAs(func(marks []store.Mark, fresh []bool) []bool {
			first := map[store.MessageID]bool{}
			for i, m := range marks {
				first[m.ID] = first[m.ID] || fresh[i]
				fresh[i] = first[m.ID]
			}
			return fresh
		}), []string{"Of marks of one call with one id the first is fresh"}},
		{"of the marks of one id in a call the last is fresh", answeredAs(func(marks []store.Mark, fresh []bool) []bool {
			out, last := make([]bool, len(fresh)), map[store.MessageID]int{}
			for i, m := range marks {
				last[m.ID] = i
			}
			for i, m := range marks {
				out[last[m.ID]] = out[last[m.ID]] || fresh[i]
			}
			return out
		}), []string{"Of marks of one call with one id the first is fresh"}},
		{"answers are in the order of the ids", answeredAs(func(marks []store.Mark, fresh []bool) []bool {
			order := make([]int, len(marks))
			for i := range order {
				order[i] = i
			}
			slices.SortFunc(order, func(a, b int) int { return cmp.Compare(marks[a].ID, marks[b].ID) })
			out := make([]bool, len(fresh))
			for i, from := range order {
				out[i] = fresh[from]
			}
			return out
		}), []string{"The answers of a call are in the order of its marks, fresh and known mixed"}},
		{"known marks have no answers", answeredAs(func(_ []store.Mark, fresh []bool) []bool {
			return slices.DeleteFunc(fresh, func(fresh bool) bool { return !fresh })
		}), []string{twice, "The answers of a call are in the order of its marks, fresh and known mixed"}},
		{"a call takes a thousand marks", func(db *database) {
			f := forge(db)
			f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
				fresh, err := f.Store.Mark(ctx, tx, consumer, marks[:min(1000, len(marks))])
				return append(fresh, slices.Repeat([]bool{true}, max(0, len(marks)-1000))...), err
			}
		}, []string{"Ten thousand marks go in one call, and are known in the next"}},
		{"marks are sorted where they stand", func(db *database) {
			f := forge(db)
			f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
				slices.SortFunc(marks, func(a, b store.Mark) int { return cmp.Compare(a.ID, b.ID) })
				return f.Store.Mark(ctx, tx, consumer, marks)
			}
		}, []string{"Mark keeps nothing of what it was given"}},
		{"marks are written when the transaction commits", marksAtCommit, []string{"Mark keeps nothing of what it was given", afterCommit}},
		{"a crash loses what was committed", func(db *database) {
			f := forge(db)
			crash := db.Crash
			db.Crash = func(ctx context.Context) error {
				f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
					return f.Store.Mark(ctx, tx, consumer+"+", marks)
				}
				return crash(ctx)
			}
		}, []string{"After a crash what was committed is known, and what was open is fresh", "After a crash a prepared transaction holds its marks"}},
		{"a crash keeps what was open", aside, []string{"After a crash what was committed is known, and what was open is fresh"}},
	}
}

// lateSums compares a sum with the first one that came, even if the mark was made without.
func lateSums(db *database) {
	f := forge(db)
	first := map[store.MessageID]store.Sum{}
	f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
		fresh, err := f.Store.Mark(ctx, tx, consumer, marks)
		for i, m := range marks {
			if had, there := first[m.ID]; there && had != m.Sum && m.Sum != (store.Sum{}) && err == nil && !fresh[i] {
				err = store.ErrOtherBytes
			} else if !there {
				first[m.ID] = m.Sum
			}
		}
		return fresh, err
	}
}

// marksAtCommit keeps the marks, and writes them when the transaction ends.
func marksAtCommit(db *database) {
	type call struct {
		consumer string
		marks    []store.Mark
	}
	var mu sync.Mutex
	kept := map[memTx][]call{}
	f := forge(db)
	f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
		probe, err := f.Begin(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { _ = probe.Rollback(ctx) }()
		mu.Lock()
		defer mu.Unlock()
		kept[tx] = append(kept[tx], call{consumer, marks})
		return f.Store.Mark(ctx, probe, consumer, marks)
	}
	db.Commit = func(ctx context.Context, tx memTx) error {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range kept[tx] {
			if _, err := f.Store.Mark(ctx, tx, c.consumer, c.marks); err != nil {
				return err
			}
		}
		return tx.Commit(ctx)
	}
}

// wrongForgets are mistakes of a Forgetter.
func wrongForgets() []wrong {
	const old, byDefault, declared = "Forget removes marks whose time is over, and no others", "Marks of a consumer that was not declared are kept for the default time", "A consumer's marks are kept for as long as was declared last"
	const names, many, busy = "A declared keep is that consumer's alone, and names are compared as bytes", "Many marks take calls of Forget until one is done, and the next begins again", "Of calls of Forget at a time one works, and the others are busy"
	const list, fresh = "Consumers are listed by name, as they were declared last", "A mark that was forgotten is fresh again, with other bytes too"
	return []wrong{
		{"nothing is removed", func(db *database) {
			forge(db).forget = func(context.Context) (store.Forgotten, error) { return store.Forgotten{Done: true}, nil }
		}, []string{old, byDefault, declared, fresh, many}},
		{"marks are removed whatever their age", func(db *database) {
			f := forge(db)
			f.forget = func(ctx context.Context) (store.Forgotten, error) {
				if err := db.Age(ctx, "", 10_000*day); err != nil {
					return store.Forgotten{}, err
				}
				return f.Store.Forget(ctx)
			}
		}, []string{old, byDefault, declared, many}},
		{"Forget is never done", forgotten(func(f *store.Forgotten) { f.Done = false }), []string{old, many}},
		{"Forget is done at once", forgotten(func(f *store.Forgotten) { f.Done = true }), []string{many}},
		{"Forget says that it removed what it looked at", forgotten(func(f *store.Forgotten) { f.Removed = f.Looked }), []string{old, many}},
		{"Forget does not say what it looked at", forgotten(func(f *store.Forgotten) { f.Looked = f.Removed }), []string{many}},
		{"Forget walks once", lastWalk, []string{many}},
		{"calls of Forget wait for each other", oneAtATime, []string{busy}},
		{"a busy Forget says that it is done", forgotten(func(f *store.Forgotten) { f.Done = f.Done || f.Busy }), []string{busy}},
		{"Forget waits for consumers", patient, []string{"Forget does not wait for an open transaction, and leaves its marks alone"}},
		{"what was declared is not heeded", func(db *database) {
			forge(db).declare = func(context.Context, string, time.Duration) error { return nil }
		}, []string{old, declared, names, list}},
		{"the first declaration stays", func(db *database) {
			f := forge(db)
			known := map[string]bool{}
			f.declare = func(ctx context.Context, name string, keep time.Duration) error {
				if known[name] {
					return nil
				}
				known[name] = true
				return f.Store.DeclareConsumer(ctx, name, keep)
			}
		}, []string{declared, list}},
		{"a keep is at most the default", declaredAs(func(name string, keep time.Duration) (string, time.Duration) {
			return name, min(keep, store.DefaultKeep)
		}), []string{declared, list}},
		{"a keep is at least the default", declaredAs(func(name string, keep time.Duration) (string, time.Duration) {
			return name, max(keep, store.DefaultKeep)
		}), []string{old, fresh, list}},
		{"a keep is counted in days", declaredAs(func(name string, keep time.Duration) (string, time.Duration) {
			return name, max(day, keep.Truncate(day))
		}), []string{old, list}},
		{"a consumer is declared without accents", declaredAs(func(name string, keep time.Duration) (string, time.Duration) {
			return folded(name), keep
		}), []string{names}},
		{"consumers are not in the order of their names", func(db *database) {
			f := forge(db)
			f.consumers = func(ctx context.Context) ([]store.Consumer, error) {
				all, err := f.Store.Consumers(ctx)
				slices.Reverse(all)
				return all, err
			}
		}, []string{list}},
		{"a second declaration at a time fails", func(db *database) {
			f := forge(db)
			var mu sync.Mutex
			known := false
			f.declare = func(ctx context.Context, name string, keep time.Duration) error {
				mu.Lock()
				defer mu.Unlock()
				if known {
					return errors.New("it is there")
				}
				known = true
				return f.Store.DeclareConsumer(ctx, name, keep)
			}
		}, []string{"A consumer declared by many at a time is declared once"}},
		{"the sum of a mark outlives it", func(db *database) {
			f := forge(db)
			sums := map[store.MessageID]store.Sum{}
			f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
				for _, m := range marks {
					if had, there := sums[m.ID]; there && had != m.Sum {
						return nil, store.ErrOtherBytes
					}
					sums[m.ID] = m.Sum
				}
				return f.Store.Mark(ctx, tx, consumer, marks)
			}
		}, []string{fresh}},
		{"consumers are held up while Forget works", func(db *database) {
			f := forge(db)
			var mu sync.RWMutex
			f.mark = func(ctx context.Context, tx memTx, consumer string, marks []store.Mark) ([]bool, error) {
				mu.RLock()
				defer mu.RUnlock()
				return f.Store.Mark(ctx, tx, consumer, marks)
			}
			f.forget = func(ctx context.Context) (store.Forgotten, error) {
				mu.Lock()
				defer mu.Unlock()
				<-time.After(time.Second)
				return f.Store.Forget(ctx)
			}
		}, []string{"Consumers mark while Forget works"}},
		{"the harness cannot make marks older", func(db *database) { db.Age = nil }, []string{old}},
	}
}

// TestRunInboxRunsTheCasesOfInboxesAlone shows what a second form of an inbox needs.
func TestRunInboxRunsTheCasesOfInboxesAlone(t *testing.T) {
	t.Parallel()
	h := harness(20*time.Second, func(db *database) {
		*db = database{
			Store: db.Store, Inbox: db.Store.(*memstore.Store), Begin: db.Begin, Commit: db.Commit, Rollback: db.Rollback, Age: db.Age, //nolint:errcheck // reference made it
		}
	})
	h.Features = store.Features{ConcurrentWriters: true}
	RunInbox(t, h)
}
