package pgstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/postbag/postbag/store"
)

var (
	_ store.Forgetter = (*Store)(nil)
	_ store.Forgetter = (*Appender)(nil)
)

// DeclareConsumer implements store.Forgetter. The role needs the rights of a relay.
func (s *Store) DeclareConsumer(ctx context.Context, consumer string, keep time.Duration) error {
	return s.forgetter().declare(ctx, consumer, keep)
}

// Consumers implements store.Forgetter.
func (s *Store) Consumers(ctx context.Context) ([]store.Consumer, error) {
	return s.forgetter().consumers(ctx)
}

// Forget implements store.Forgetter. The role needs the rights of a relay. A process that
// ends in the middle has the others wait for ten seconds.
func (s *Store) Forget(ctx context.Context) (store.Forgotten, error) {
	return s.forgetter().forget(ctx)
}

// DeclareConsumer implements store.Forgetter, as that of a Store does.
func (d *Appender) DeclareConsumer(ctx context.Context, consumer string, keep time.Duration) error {
	return d.forgetter().declare(ctx, consumer, keep)
}

// Consumers implements store.Forgetter.
func (d *Appender) Consumers(ctx context.Context) ([]store.Consumer, error) {
	return d.forgetter().consumers(ctx)
}

// Forget implements store.Forgetter, as that of a Store does.
func (d *Appender) Forget(ctx context.Context) (store.Forgotten, error) {
	return d.forgetter().forget(ctx)
}

func (s *Store) forgetter() forgetter    { return forgetter{s.statements, s.inSession} }
func (d *Appender) forgetter() forgetter { return forgetter{d.catalog, d.inSession} }

// forgetter is a store.Forgetter over either kind of transaction.
type forgetter struct {
	statements *statementSet
	in         func(context.Context, func(context.Context, session) error) error
}

func (f forgetter) command(name string, args ...any) command {
	return command{f.statements.get(name, "").sql, args}
}

func (f forgetter) declare(ctx context.Context, consumer string, keep time.Duration) error {
	doing := "declare consumer " + strconv.Quote(consumer)
	if err := store.ValidConsumer(consumer); err != nil {
		return fmt.Errorf("pgstore: %s: %w", doing, err)
	}
	if keep < store.MinKeep {
		return fmt.Errorf("pgstore: %s: its marks would be kept for %s; keep them for %s or longer", doing, keep, store.MinKeep)
	}
	return forgetError(doing, f.in(ctx, func(ctx context.Context, in session) error {
		_, err := in.exec(ctx, f.command("declare_consumer", []byte(consumer), microseconds(keep)))
		return err
	}))
}

// microseconds returns a time of at least d.
func microseconds(d time.Duration) string {
	us := d.Microseconds()
	if d%time.Microsecond > 0 {
		us++
	}
	return strconv.FormatInt(us, 10)
}

func (f forgetter) consumers(ctx context.Context) (out []store.Consumer, err error) {
	err = f.in(ctx, func(ctx context.Context, in session) error {
		out = nil
		var name []byte
		var us int64
		return in.query(ctx, f.command("consumers"), []any{&name, &us}, func() error {
			keep := time.Duration(math.MaxInt64)
			if us < math.MaxInt64/int64(time.Microsecond) {
				keep = time.Duration(us) * time.Microsecond
			}
			out = append(out, store.Consumer{Name: string(name), Keep: keep})
			return nil
		})
	})
	return out, forgetError("list consumers", err)
}

const (
	// forgetTime is about how long a call of Forget takes, and walkTime for how long it has the walk to itself after each batch.
	forgetTime, walkTime = 800 * time.Millisecond, 10 * time.Second
	// forgetRows is how many marks one transaction removes at most: some tens of milliseconds, for which a consumer may wait.
	forgetRows = deleteRows
	// A batch looks at forgetBlocks blocks, and at twice as many each time after one in which little was to be removed: a transaction for each
	// few blocks would cost more than to look at them. The most hold some fifty thousand marks.
	forgetBlocks, forgetBlocksMost = 16, 512
)

// errOvertaken says that another process took the walk over.
var errOvertaken = errors.New("another process walks")

// walk is one call of Forget. It goes through the table by its blocks. An index on the marks' time would find the old ones at
// once, but would cost each mark an insertion, at the one place of the index where all consumers insert. To look at all marks costs
// little: a walk reads the table once, and what it removes it would have to read in any case.
type walk struct {
	forgetter

	holder        string
	block, blocks int64
	size          int64
	out           store.Forgotten
}

func (f forgetter) forget(ctx context.Context) (store.Forgotten, error) {
	w := &walk{forgetter: f, holder: rand.Text(), size: forgetBlocks}
	end := time.Now().Add(forgetTime)
	err := w.begin(ctx)
	if err == nil && !w.out.Busy {
		for err == nil && w.block < w.blocks && time.Now().Before(end) {
			err = f.in(ctx, w.batch)
		}
		w.out.Done = w.block >= w.blocks
		err = errors.Join(err, w.end(ctx))
	}
	if errors.Is(err, errOvertaken) {
		w.out.Busy, w.out.Done = w.out.Looked == 0, false
		return w.out, nil
	}
	return w.out, forgetError("forget marks", err)
}

// begin takes the walk. It is a lease in a row and no lock: the walk takes many transactions, and its session may be another in
// each. Who meets the row while it is being changed comes too late, as who finds the lease taken.
func (w *walk) begin(ctx context.Context) error {
	found := false
	err := w.in(ctx, func(ctx context.Context, in session) error {
		if _, err := in.exec(ctx, w.command("make_walk")); err != nil {
			return err
		}
		return in.query(ctx, w.command("begin_walk", w.holder, microseconds(walkTime)), []any{&w.block, &w.blocks}, func() error {
			found = true
			return nil
		})
	})
	if endedByConcurrentTransaction(sqlState(err)) {
		found, err = false, nil
	}
	w.out.Busy = err == nil && !found
	return err
}

// batch looks at some blocks. If there is more to remove than one transaction may, the next one looks at the first of them again.
func (w *walk) batch(ctx context.Context, in session) error {
	if _, err := in.exec(ctx, w.command("walking")); err != nil {
		return err
	}
	to := min(w.block+w.size, w.blocks)
	var looked, old, removed int64
	err := in.query(ctx, w.command("forget_marks", strconv.FormatInt(w.block, 10), strconv.FormatInt(to, 10), strconv.Itoa(forgetRows), microseconds(store.DefaultKeep)),
		[]any{&looked, &old, &removed}, func() error { return nil })
	if err != nil {
		return err
	}
	size := min(2*w.size, forgetBlocksMost)
	if old > forgetRows {
		looked, to, size = removed, w.block, forgetBlocks
	}
	if err := w.keep(ctx, in, to, walkTime); err != nil {
		return err
	}
	w.block, w.size = to, size
	w.out.Looked += looked
	w.out.Removed += removed
	return nil
}

// keep writes down how far the walk came.
func (w *walk) keep(ctx context.Context, in session, block int64, more time.Duration) error {
	n, err := in.exec(ctx, w.command("keep_place", w.holder, strconv.FormatInt(block, 10), strconv.FormatInt(w.blocks, 10), microseconds(more)))
	if err == nil && n == 0 {
		err = errOvertaken
	}
	return err
}

// end gives the walk back, even if the call was given up.
func (w *walk) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return w.in(ctx, func(ctx context.Context, in session) error { return w.keep(ctx, in, w.block, 0) })
}

func forgetError(doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case hidesMarks(err):
		return &fault{doing: doing, said: serverMessage(err), fix: fixHiddenMarks, cause: hidden(err)}
	}
	return translateError(doing, schemaError(err))
}
