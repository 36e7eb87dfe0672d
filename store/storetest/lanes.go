package storetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// laneCases are about records of exactly-once lanes beside effects.
func laneCases() []scenario {
	return []scenario{
		{name: "A new lane has no record, and each opening gives it another epoch", run: laneOpens},
		{name: "An epoch does not come again when the table's rows went back", run: laneEpochs},
		{name: "An opening that is rolled back has not happened", run: laneOpenRolledBack},
		{name: "A record is there when its transaction has committed, and not when it rolled back", run: laneRecords},
		{name: "Who opened a lane before cannot write it any more", run: laneFences},
		{name: "A lane that nobody opened cannot be written", run: laneUnopened},
		{name: "Opening a lane waits for the transaction that wrote it, and finds its record", run: laneOpenWaits},
		{name: "A write that waits for an opening is refused when that has committed", needs: concurrentWriters, run: laneWriteWaits},
		{name: "Lanes are apart, and their names are compared as bytes", run: laneNames},
		{name: "A lane's record of any bytes comes back as it was, the largest too", run: laneLarge},
		{name: "Try takes back what failed, and keeps the rest of the transaction", run: laneTry},
		{name: "After a crash a lane has its last committed record, and not that of an open transaction", run: laneCrash},
		{name: "Opening a lane with a context that has ended opens nothing", run: laneEnded},
	}
}

const lane = "billing/postbag/inbox/default/0"

// needLanes skips the case where there are no lanes.
func (e *env) needLanes() {
	e.Helper()
	if e.Lanes == nil {
		e.Skip("the store keeps no lanes for the transactions of the harness")
	}
}

// openLane opens a lane in tx, and wants an epoch above zero.
func (e *env) openLane(tx any, name string) store.LaneState {
	e.Helper()
	got, err := e.Lanes.OpenLane(e.ctx, tx, name)
	e.check(err, "open the lane")
	if got.Epoch <= 0 {
		e.Errorf("the lane %.40q was opened with epoch %d, which is not above zero", name, got.Epoch)
	}
	return got
}

// enter opens a lane in a transaction of its own, and wants its record. It returns the epoch.
func (e *env) enter(name string, record []byte) (epoch int64) {
	e.Helper()
	tx := e.begin()
	got := e.openLane(tx, name)
	e.commit(tx)
	if !bytes.Equal(got.Record, record) || (got.Record == nil) != (record == nil) {
		e.Errorf("the lane %.40q has a record of %d bytes (nil: %v), want %d bytes", name, len(got.Record), got.Record == nil, len(record))
	}
	return got.Epoch
}

// writeLane writes a record in a transaction of its own, and commits.
func (e *env) writeLane(name string, epoch int64, record []byte) {
	e.Helper()
	tx := e.begin()
	e.check(e.Lanes.WriteLane(e.ctx, tx, name, epoch, record), "write the lane")
	e.commit(tx)
}

// fenced wants a write of the lane to be refused.
func (e *env) fenced(epoch int64) {
	e.Helper()
	tx := e.begin()
	if err := e.Lanes.WriteLane(e.ctx, tx, lane, epoch, []byte("zombie")); !errors.Is(err, store.ErrFenced) {
		e.Errorf("a write with epoch %d: %v, not ErrFenced", epoch, err)
	}
	e.rollback(tx)
}

func laneOpens(e *env) {
	e.needLanes()
	seen := map[int64]bool{}
	for range 4 {
		seen[e.enter(lane, nil)] = true
	}
	tx := e.begin()
	for range 2 {
		seen[e.openLane(tx, lane).Epoch] = true
	}
	e.commit(tx)
	if len(seen) != 6 {
		e.Errorf("6 openings had %d epochs", len(seen))
	}
}

// laneEpochs takes openings back, as a restore of the database does: of a new lane, and of one that was opened. Who
// had such an epoch is a zombie.
func laneEpochs(e *env) {
	e.needLanes()
	var gone []int64
	for opened := range 2 {
		for range 3 {
			tx := e.begin()
			gone = append(gone, e.openLane(tx, lane).Epoch, e.openLane(tx, lane).Epoch)
			e.rollback(tx)
		}
		epoch := e.enter(lane, nil)
		if slices.Contains(gone, epoch) {
			e.Errorf("opening %d gives out epoch %d again, after a rollback of the opening that had it", opened, epoch)
		}
		for _, zombie := range gone {
			e.fenced(zombie)
		}
		gone = append(gone, epoch)
	}
	if apart := slices.Compact(slices.Sorted(slices.Values(gone))); len(apart) != len(gone) {
		e.Errorf("%d openings had %d epochs: %d", len(gone), len(apart), gone)
	}
}

func laneOpenRolledBack(e *env) {
	e.needLanes()
	for range 2 {
		tx := e.begin()
		e.openLane(tx, lane)
		e.rollback(tx)
	}
	epoch := e.enter(lane, nil)
	tx := e.begin()
	e.openLane(tx, lane)
	e.rollback(tx)
	e.writeLane(lane, epoch, []byte("first"))
	e.enter(lane, []byte("first"))
}

func laneRecords(e *env) {
	e.needLanes()
	epoch := e.enter(lane, nil)
	for _, record := range []string{"1", "22", "3"} {
		e.writeLane(lane, epoch, []byte(record))
		tx := e.begin()
		e.check(e.Lanes.WriteLane(e.ctx, tx, lane, epoch, []byte("undone")), "write the lane")
		e.rollback(tx)
		epoch = e.enter(lane, []byte(record))
	}
	tx := e.begin()
	record := []byte("last")
	e.check(e.Lanes.WriteLane(e.ctx, tx, lane, epoch, []byte("of the same transaction")), "write the lane")
	e.check(e.Lanes.WriteLane(e.ctx, tx, lane, epoch, record), "write the lane again")
	copy(record, "gone") // it keeps nothing of what it was given
	e.commit(tx)
	e.enter(lane, []byte("last"))
}

func laneFences(e *env) {
	e.needLanes()
	first := e.enter(lane, nil)
	e.writeLane(lane, first, []byte("old"))
	second := e.enter(lane, []byte("old"))
	for _, epoch := range []int64{first, second - 1, second + 1} {
		e.fenced(epoch)
	}
	e.writeLane(lane, second, []byte("owner"))
	e.fenced(first)
	e.enter(lane, []byte("owner"))
	e.fenced(first)
	e.fenced(second)
}

func laneUnopened(e *env) {
	e.needLanes()
	for _, epoch := range []int64{0, 1} {
		e.fenced(epoch)
	}
	e.enter(lane, nil)
}

// aside runs fn in a transaction of its own, in a goroutine.
func (e *env) aside(fn func(ctx context.Context, tx any) error) *attempt {
	ctx, cancel := context.WithCancel(e.ctx)
	a := &attempt{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		if a.tx, a.err = e.Begin(ctx); a.err == nil {
			a.err = fn(ctx, a.tx)
		}
	}()
	e.Cleanup(func() {
		cancel()
		<-a.done
		if e.Failed() && a.tx != nil {
			e.undo(a.tx)
		}
	})
	return a
}

// over waits for the end of an attempt.
func (e *env) over(a *attempt) {
	e.Helper()
	select {
	case <-a.done:
	case <-time.After(e.patience):
		e.Fatalf("a call still waits for a lane after %s, and nothing holds it", e.patience)
	}
}

func laneOpenWaits(e *env) {
	e.needLanes()
	epoch := e.enter(lane, nil)
	for i, commit := range []bool{true, false} {
		tx := e.begin()
		e.check(e.Lanes.WriteLane(e.ctx, tx, lane, epoch, []byte{'r', byte(i)}), "write the lane")
		var got store.LaneState
		late := e.aside(func(ctx context.Context, tx any) (err error) {
			got, err = e.Lanes.OpenLane(ctx, tx, lane)
			return err
		})
		e.waits(late)
		if commit {
			e.commit(tx)
		} else {
			e.rollback(tx)
		}
		e.over(late)
		e.check(late.err, "open the lane after waiting")
		e.commit(late.tx)
		if got.Epoch == epoch || !bytes.Equal(got.Record, []byte{'r', 0}) {
			e.Errorf("after waiting, the lane has epoch %d, the one before was %d, and the record %q", got.Epoch, epoch, got.Record)
		}
		epoch = got.Epoch
	}
}

func laneWriteWaits(e *env) {
	e.needLanes()
	epoch := e.enter(lane, nil)
	owner := e.begin()
	e.openLane(owner, lane)
	zombie := e.aside(func(ctx context.Context, tx any) error {
		return e.Lanes.WriteLane(ctx, tx, lane, epoch, []byte("zombie"))
	})
	e.waits(zombie)
	e.commit(owner)
	e.over(zombie)
	if !errors.Is(zombie.err, store.ErrFenced) && !errors.Is(zombie.err, store.ErrAgain) {
		e.Errorf("a write that waited for an opening: %v, not ErrFenced", zombie.err)
	}
	e.undo(zombie.tx)
	e.fenced(epoch)
	e.enter(lane, nil)
}

func laneNames(e *env) {
	e.needLanes()
	long := strings.Repeat("x", store.MaxLane-1)
	names := []string{"a", "A", "a ", " a", "a\x00", "\x00", "\xff", "é", "e\u0301", "ß", "ss", "'", `\`, "%", "0", "00", long, long + "x", long + "y"}
	for i, name := range names {
		e.writeLane(name, e.enter(name, nil), []byte{byte(i)})
	}
	for i, name := range names {
		e.enter(name, []byte{byte(i)})
	}
}

func laneLarge(e *env) {
	e.needLanes()
	epoch := e.enter(lane, nil)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, record := range [][]byte{{0}, every, bytes.Repeat(every, store.MaxLaneRecord/256), {0xff}} {
		e.writeLane(lane, epoch, record)
		epoch = e.enter(lane, record)
	}
}

func laneTry(e *env) {
	e.needLanes()
	e.needInbox()
	epoch := e.enter(lane, nil)
	tx := e.begin()
	e.check(e.Lanes.WriteLane(e.ctx, tx, lane, epoch, []byte("tried")), "write the lane")
	e.marked(tx, true, "before")
	refused := errors.New("refused")
	try := func(want error, ids ...store.MessageID) {
		e.Helper()
		failed, broken := e.Lanes.Try(e.ctx, tx, func(ctx context.Context) error {
			if _, err := e.Inbox.Mark(ctx, tx, consumer, marksOf(ids...)); err != nil {
				return err
			}
			return want
		})
		if e.check(broken, "try"); !errors.Is(failed, want) {
			e.Errorf("what was tried failed with %v, want %v", failed, want)
		}
	}
	for _, id := range []store.MessageID{"1", "2", "3", "4", "5", "6"} {
		if slices.Contains([]store.MessageID{"1", "4", "5"}, id) {
			try(refused, id)
		} else {
			try(nil, id)
		}
	}
	e.marked(tx, true, "after")
	e.commit(tx)
	e.commitMarks(false, "before", "2", "3", "6", "after")
	e.commitMarks(true, "1", "4", "5")
	e.enter(lane, []byte("tried"))
}

func laneCrash(e *env) {
	e.needLanes()
	e.needCrash()
	epoch := e.enter(lane, nil)
	e.writeLane(lane, epoch, []byte("committed"))
	tx := e.begin()
	e.check(e.Lanes.WriteLane(e.ctx, tx, lane, epoch, []byte("open")), "write the lane")
	e.crash()
	e.undo(tx)
	e.enter(lane, []byte("committed"))
	e.fenced(epoch)
}

func laneEnded(e *env) {
	e.needLanes()
	tx := e.begin()
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	if _, err := e.Lanes.OpenLane(ctx, tx, lane); !errors.Is(err, ctx.Err()) {
		e.Errorf("opening a lane with a context that has ended: %v, not %v", err, ctx.Err())
	}
	_ = e.Rollback(e.ctx, tx) // a driver may have done it
	e.enter(lane, nil)
}
