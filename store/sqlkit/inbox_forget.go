package sqlkit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Forgetting has the methods of [store.Forgetter]. It is safe for concurrent use.
type Forgetting struct {
	Dialect *Dialect
	// Write, Query and Now are as in [Hooks]. Write may give up early.
	Write func(ctx context.Context, doing string, fn func(*Tx) error) error
	Query func(ctx context.Context) Querier
	Now   func(ctx context.Context) (int64, error)
}

// DeclareConsumer implements [store.Forgetter].
func (f *Forgetting) DeclareConsumer(ctx context.Context, consumer string, keep time.Duration) error {
	doing := "declare consumer " + storekit.Printable(consumer)
	err := storekit.CheckConsumer(consumer)
	if err == nil && keep < store.MinKeep {
		err = fmt.Errorf("marks would be kept for %s; keep them for %s or longer", keep, store.MinKeep)
	}
	if err != nil {
		return f.Dialect.Translate(doing, err)
	}
	return f.Write(ctx, doing, func(t *Tx) error {
		_, err := t.Exec(sqlDeclareConsumer, []byte(consumer), keep.Microseconds())
		return err
	})
}

// Consumers implements [store.Forgetter].
func (f *Forgetting) Consumers(ctx context.Context) ([]store.Consumer, error) {
	var all []store.Consumer
	err := f.Query(ctx)(sqlConsumers, nil, func(rows *sql.Rows) error {
		var name []byte
		var micros int64
		err := rows.Scan(&name, &micros)
		all = append(all, store.Consumer{Name: string(name), Keep: time.Duration(micros) * time.Microsecond})
		return err
	})
	return all, f.Dialect.Translate("list consumers", err)
}

// What a call of Forget does at most.
const (
	// forgetTime is about how long it works.
	forgetTime = time.Second
	// forgetRows is how many marks a transaction looks at, and removes at most.
	forgetRows = 1000
	// forgetLease is for how long it keeps others out. It is renewed with each
	// transaction, so that it runs out only when the call has ended in the middle.
	forgetLease = 10 * time.Second
)

// errPassedOn: this call was so slow that another one goes on in its place.
var errPassedOn = errors.New("another process goes on with it")

// Forget implements [store.Forgetter]. The row of postbag__forgetting says how far all
// calls have come, which call is at work and until when it keeps others out.
func (f *Forgetting) Forget(ctx context.Context) (store.Forgotten, error) {
	const doing = "forget old marks"
	w := walk{f: f, end: time.Now().Add(forgetTime)}
	free, err := w.look(ctx)
	if err == nil && free {
		free, err = w.take(ctx, doing)
	}
	if err != nil {
		return store.Forgotten{}, f.Dialect.Translate(doing, err)
	}
	if !free {
		return store.Forgotten{Busy: true}, nil
	}
	err = w.all(ctx, doing)
	if errors.Is(err, errPassedOn) {
		return w.done, nil
	}
	return w.done, f.Dialect.Translate(doing, errors.Join(err, w.leave(ctx, doing)))
}

// walk is one call of Forget at work.
type walk struct {
	f   *Forgetting
	end time.Time

	consumer, id []byte // how far it has come
	token        int64
	now          int64 // the database's clock when the call began
	expires      int64
	done         store.Forgotten
}

// read reads the row that all calls share.
func (w *walk) read(query Querier, lock string) error {
	found, err := Row(query, sqlForgetting+lock, nil, &w.consumer, &w.id, &w.token, &w.expires)
	if err == nil && !found {
		err = fmt.Errorf("the row of postbag__forgetting is missing: %w", store.ErrSchema)
	}
	return err
}

// look says, without a lock, whether no other call is at work.
func (w *walk) look(ctx context.Context) (free bool, err error) {
	if w.now, err = w.f.Now(ctx); err != nil {
		return false, err
	}
	err = w.read(w.f.Query(ctx), "")
	return err == nil && w.free(), err
}

// free says whether nobody keeps others out. A time far in the future is one of before
// the clock was set back.
func (w *walk) free() bool {
	return w.expires <= w.now || w.expires > w.now+2*forgetLease.Microseconds()
}

// take begins: from now on other calls are Busy.
func (w *walk) take(ctx context.Context, doing string) (taken bool, err error) {
	err = w.f.Write(ctx, doing, func(t *Tx) error {
		taken = false
		if err := w.read(t.Query, t.Lock); err != nil {
			return err
		}
		w.now = t.Now
		if !w.free() {
			return nil
		}
		taken = true
		w.token++
		return w.save(t, w.token-1, w.now+forgetLease.Microseconds())
	})
	return taken, err
}

// save notes how far this call has come, if no other has taken its place.
func (w *walk) save(t *Tx, token, expires int64) error {
	if _, err := t.Exec(sqlSetForgetting, w.consumer, w.id, w.token, expires, token); err != nil {
		return err
	}
	var now int64
	found, err := t.Row(sqlForgettingLease, nil, &now)
	if err == nil && (!found || now != w.token) {
		err = errPassedOn
	}
	return err
}

// leave lets others work, whatever has become of ctx.
func (w *walk) leave(ctx context.Context, doing string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetLease)
	defer cancel()
	err := w.f.Write(ctx, doing, func(t *Tx) error { return w.save(t, w.token, 0) })
	if errors.Is(err, errPassedOn) {
		return nil
	}
	return err
}

// all walks on until the marks or the time end.
func (w *walk) all(ctx context.Context, doing string) error {
	var before int64
	of := []byte(nil) // whose time before is
	for time.Now().Before(w.end) {
		if of == nil || string(of) != string(w.consumer) {
			keep, err := w.keep(ctx)
			if err != nil {
				return err
			}
			of, before = w.consumer, w.now-keep
		}
		full, err := w.page(ctx, doing, before)
		if err != nil {
			return err
		}
		if full {
			continue
		}
		more, err := w.next(ctx)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// keep returns for how long the marks of the consumer are kept, in microseconds.
func (w *walk) keep(ctx context.Context) (int64, error) {
	keep := store.DefaultKeep.Microseconds()
	_, err := Row(w.f.Query(ctx), sqlKeep, []any{w.consumer}, &keep)
	return keep, err
}

// page looks at the next marks of the consumer and removes those that are old. It
// returns whether there may be more of them.
func (w *walk) page(ctx context.Context, doing string, before int64) (full bool, err error) {
	var upto []byte
	var looked, old int64
	args := []any{before, w.consumer, w.id, forgetRows}
	if _, err := Row(w.f.Query(ctx), SQLMarksPage, args, &upto, &looked, &old); err != nil || looked == 0 {
		return false, err
	}
	var removed int64
	if old > 0 {
		after := w.id
		err := w.f.Write(ctx, doing, func(t *Tx) (err error) {
			w.id = upto
			if err = w.save(t, w.token, t.Now+forgetLease.Microseconds()); err == nil {
				removed, err = t.ForgetMarks(t, w.consumer, after, upto, before)
			}
			return err
		})
		if err != nil {
			w.id = after
			return false, err
		}
	}
	w.id = upto
	w.done.Looked += looked
	w.done.Removed += removed
	return looked == forgetRows, nil
}

// next goes on to the next consumer. If there is none, the next call begins again.
func (w *walk) next(ctx context.Context) (bool, error) {
	var consumer []byte
	more, err := Row(w.f.Query(ctx), SQLNextConsumer, []any{w.consumer}, &consumer)
	if err != nil {
		return false, err
	}
	w.consumer, w.id = consumer, nil
	w.done.Done = !more
	return more, nil
}
