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
		{name: "A new lane has no record, and each opening raises its epoch", run: laneOpens},
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

// enter opens a lane in a transaction of its own, and wants its epoch and record.
func (e *env) enter(name string, epoch int64, record []byte) {
	e.Helper()
	tx := e.begin()
	got, err := e.Lanes.OpenLane(e.ctx, tx, name)
	e.check(err, "open the lane")
	e.commit(tx)
	if got.Epoch != epoch || !bytes.Equal(got.Record, record) || (got.Record == nil) != (record == nil) {
		e.Errorf("the lane %.40q has epoch %d and a record of %d bytes (nil: %v), want %d and %d bytes", name, got.Epoch, len(got.Record), got.Record == nil, epoch, len(record))
	}
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
	for epoch := range int64(4) {
		e.enter(lane, epoch+1, nil)
	}
	tx := e.begin()
	for epoch := range int64(2) {
		got, err := e.Lanes.OpenLane(e.ctx, tx, lane)
		if e.check(err, "open the lane"); got.Epoch != epoch+5 {
			e.Errorf("opened in one transaction, the lane has epoch %d, want %d", got.Epoch, epoch+5)
		}
	}
	e.commit(tx)
}

func laneOpenRolledBack(e *env) {
	e.needLanes()
	for range 2 {
		tx := e.begin()
		_, err := e.Lanes.OpenLane(e.ctx, tx, lane)
		e.check(err, "open the lane")
		e.rollback(tx)
	}
	e.enter(lane, 1, nil)
	tx := e.begin()
	_, err := e.Lanes.OpenLane(e.ctx, tx, lane)
	e.check(err, "open the lane")
	e.rollback(tx)
	e.writeLane(lane, 1, []byte("first"))
	e.enter(lane, 2, []byte("first"))
}

func laneRecords(e *env) {
	e.needLanes()
	e.enter(lane, 1, nil)
	for _, record := range []string{"1", "22", "3"} {
		e.writeLane(lane, 1, []byte(record))
		tx := e.begin()
		e.check(e.Lanes.WriteLane(e.ctx, tx, lane, 1, []byte("undone")), "write the lane")
		e.rollback(tx)
	}
	tx := e.begin()
	record := []byte("last")
	e.check(e.Lanes.WriteLane(e.ctx, tx, lane, 1, []byte("of the same transaction")), "write the lane")
	e.check(e.Lanes.WriteLane(e.ctx, tx, lane, 1, record), "write the lane again")
	copy(record, "gone") // it keeps nothing of what it was given
	e.commit(tx)
	e.enter(lane, 2, []byte("last"))
}

func laneFences(e *env) {
	e.needLanes()
	e.enter(lane, 1, nil)
	e.writeLane(lane, 1, []byte("old"))
	e.enter(lane, 2, []byte("old"))
	e.fenced(1)
	e.fenced(3)
	e.writeLane(lane, 2, []byte("owner"))
	e.fenced(1)
	e.enter(lane, 3, []byte("owner"))
	e.fenced(2)
}

func laneUnopened(e *env) {
	e.needLanes()
	for _, epoch := range []int64{0, 1} {
		e.fenced(epoch)
	}
	e.enter(lane, 1, nil)
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
	e.enter(lane, 1, nil)
	for i, commit := range []bool{true, false} {
		tx := e.begin()
		e.check(e.Lanes.WriteLane(e.ctx, tx, lane, int64(i+1), []byte{'r', byte(i)}), "write the lane")
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
		if got.Epoch != int64(i+2) || !bytes.Equal(got.Record, []byte{'r', 0}) {
			e.Errorf("after waiting, the lane has epoch %d and the record %q", got.Epoch, got.Record)
		}
	}
}

func laneWriteWaits(e *env) {
	e.needLanes()
	e.enter(lane, 1, nil)
	owner := e.begin()
	_, err := e.Lanes.OpenLane(e.ctx, owner, lane)
	e.check(err, "open the lane")
	zombie := e.aside(func(ctx context.Context, tx any) error {
		return e.Lanes.WriteLane(ctx, tx, lane, 1, []byte("zombie"))
	})
	e.waits(zombie)
	e.commit(owner)
	e.over(zombie)
	if !errors.Is(zombie.err, store.ErrFenced) && !errors.Is(zombie.err, store.ErrAgain) {
		e.Errorf("a write that waited for an opening: %v, not ErrFenced", zombie.err)
	}
	e.undo(zombie.tx)
	e.fenced(1)
	e.enter(lane, 3, nil)
}

func laneNames(e *env) {
	e.needLanes()
	long := strings.Repeat("x", store.MaxLane-1)
	names := []string{"a", "A", "a ", " a", "a\x00", "\x00", "\xff", "é", "e\u0301", "ß", "ss", "'", `\`, "%", "0", "00", long, long + "x", long + "y"}
	for i, name := range names {
		e.enter(name, 1, nil)
		e.writeLane(name, 1, []byte{byte(i)})
	}
	for i, name := range names {
		e.enter(name, 2, []byte{byte(i)})
	}
}

func laneLarge(e *env) {
	e.needLanes()
	e.enter(lane, 1, nil)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	epoch := int64(1)
	for _, record := range [][]byte{{0}, every, bytes.Repeat(every, store.MaxLaneRecord/256), {0xff}} {
		e.writeLane(lane, epoch, record)
		epoch++
		e.enter(lane, epoch, record)
	}
}

func laneTry(e *env) {
	e.needLanes()
	e.needInbox()
	e.enter(lane, 1, nil)
	tx := e.begin()
	e.check(e.Lanes.WriteLane(e.ctx, tx, lane, 1, []byte("tried")), "write the lane")
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
	e.enter(lane, 2, []byte("tried"))
}

func laneCrash(e *env) {
	e.needLanes()
	e.needCrash()
	e.enter(lane, 1, nil)
	e.writeLane(lane, 1, []byte("committed"))
	tx := e.begin()
	e.check(e.Lanes.WriteLane(e.ctx, tx, lane, 1, []byte("open")), "write the lane")
	e.crash()
	e.undo(tx)
	e.enter(lane, 2, []byte("committed"))
	e.fenced(1)
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
	e.enter(lane, 1, nil)
}
