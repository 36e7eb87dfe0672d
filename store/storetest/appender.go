package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// appenderCases are about the writing half.
func appenderCases() []scenario {
	return []scenario{
		{name: "InTx commits what its function wrote", run: inTxCommits},
		{name: "InTx rolls back and passes on an error", run: inTxError},
		{name: "InTx rolls back and passes on a panic", run: inTxPanic},
		{name: "InTx says so when the answer of a commit is lost", run: commitUnknown},
		{name: "Append to a missing box is ErrNoBox", run: appendNoBox},
		{name: "Append in a transaction that has ended is ErrTxEnded", run: appendEnded},
		{name: "Append keeps nothing of what it was given", run: appendKeepsNothing},
		{name: "Append takes thousands of messages at once, in order", run: appendMany},
		{name: "Lock makes writers of one key take turns, and no others", needs: concurrentWriters, run: lockKeys},
		{name: "Lock gives up when its context ends", needs: concurrentWriters, run: lockGivesUp},
		{name: "Wake reaches Woken", run: wakeWoken},
	}
}

func inTxCommits(e *env) {
	e.open(1)
	m := e.message("k")
	err := e.Appender.InTx(e.ctx, func(ctx context.Context, tx any) error {
		return e.Appender.Append(ctx, tx, box, []postbag.Message{m})
	})
	e.check(err, "InTx")
	e.pager().expect(m)
}

func inTxError(e *env) {
	e.open(1)
	refused := errors.New("the business refuses")
	err := e.Appender.InTx(e.ctx, func(_ context.Context, tx any) error {
		e.append(tx, e.message("k"))
		return refused
	})
	if !errors.Is(err, refused) {
		e.Errorf("InTx returns %v, not its function's error", err)
	}
	e.pager().expect(e.publish(e.message("k"))...)
}

func inTxPanic(e *env) {
	e.open(1)
	var raised any
	func() {
		defer func() { raised = recover() }()
		_ = e.Appender.InTx(e.ctx, func(_ context.Context, tx any) error {
			e.append(tx, e.message("k"))
			panic("the business panics")
		})
	}()
	if raised != "the business panics" {
		e.Errorf("InTx lets through the panic %v", raised)
	}
	e.pager().expect(e.publish(e.message("k"))...)
}

func commitUnknown(e *env) {
	if e.CutAnswer == nil {
		e.Skip("the harness cannot cut the answer of a commit")
	}
	e.open(1)
	m := e.message("k")
	e.CutAnswer()
	err := e.Appender.InTx(e.ctx, func(_ context.Context, tx any) error {
		e.append(tx, m)
		return nil
	})
	if !errors.Is(err, postbag.ErrCommitUnknown) {
		e.Errorf("with the answer of its commit lost, InTx returns %v, not ErrCommitUnknown", err)
	}
	e.pager().expect(m)
}

func appendNoBox(e *env) {
	e.open(1)
	tx := e.begin()
	err := e.Appender.Append(e.ctx, tx, "nowhere", e.messages(1))
	if !errors.Is(err, postbag.ErrNoBox) {
		e.Errorf("append to a missing box: %v, not ErrNoBox", err)
	}
	e.rollback(tx)
}

func appendEnded(e *env) {
	e.open(1)
	var kept any
	e.check(e.Appender.InTx(e.ctx, func(_ context.Context, tx any) error {
		kept = tx
		return nil
	}), "InTx")
	_, cancelled := e.Appender.Cancel(e.ctx, kept, box, e.message("k").ID)
	for what, err := range map[string]error{
		"Append":            e.Appender.Append(e.ctx, kept, box, e.messages(1)),
		"Append of several": e.Appender.Append(e.ctx, kept, box, e.messages(3)),
		"Cancel":            cancelled,
	} {
		if !errors.Is(err, postbag.ErrTxEnded) || !strings.Contains(err.Error(), "the transaction has ended") {
			e.Errorf("%s in a transaction that has ended: %v, not ErrTxEnded", what, err)
		}
	}
	e.pager().expect(e.publish(e.message("k"))...)
}

func appendKeepsNothing(e *env) {
	e.open(1)
	m := e.message("k")
	mine := m
	mine.Payload = append([]byte(nil), m.Payload...)
	mine.Headers = map[string]string{"n": m.Headers["n"]}
	tx := e.begin()
	batch := []postbag.Message{mine}
	e.append(tx, batch...)
	copy(mine.Payload, "xxxxxxxx")
	mine.Headers["n"] = "another"
	batch[0] = postbag.Message{}
	e.commit(tx)
	e.pager().expect(m)
}

func appendMany(e *env) {
	e.open(1)
	e.pager().expect(e.publish(e.messages(5000, "a", "b", "")...)...)
}

func lockKeys(e *env) {
	e.open(1)
	a, b := e.begin(), e.begin()
	e.check(e.Appender.Lock(e.ctx, a, box, []string{"one", "two"}), "lock")
	e.check(e.Appender.Lock(e.ctx, b, box, []string{"three"}), "lock another key")
	locked := make(chan error, 1)
	go func() { locked <- e.Appender.Lock(e.ctx, b, box, []string{"two"}) }()
	first := e.append(a, e.message("two"))
	select {
	case err := <-locked:
		e.Fatalf("a second transaction got the lock while the first held it (error: %v)", err)
	case <-time.After(100 * time.Millisecond):
	}
	e.commit(a)
	select {
	case err := <-locked:
		e.check(err, "lock after the first ended")
	case <-time.After(e.patience):
		e.Fatalf("a lock was not given on within %s after its holder's end", e.patience)
	}
	second := e.append(b, e.message("two"))
	e.commit(b)
	e.pager().expect(first[0], second[0])
}

func lockGivesUp(e *env) {
	e.open(1)
	a, b := e.begin(), e.begin()
	e.check(e.Appender.Lock(e.ctx, a, box, []string{"k"}), "lock")
	ctx, cancel := context.WithTimeout(e.ctx, 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := e.Appender.Lock(ctx, b, box, []string{"k"}); err == nil {
		e.Error("a second transaction got the lock while the first held it")
	}
	if took := time.Since(begun); took > e.patience/2 {
		e.Errorf("a lock whose context ended after 50 ms came back after %s", took)
	}
	e.rollback(b)
	e.commit(a)
}

func wakeWoken(e *env) {
	w, ok := e.Store.(store.Waker)
	if !ok {
		e.Skip("the store is no Waker")
	}
	e.open(1)
	e.eventually("Woken receives after Wake", func() bool {
		e.Appender.Wake(box)
		select {
		case _, open := <-w.Woken():
			if !open {
				e.Fatal("the channel of Woken is closed")
			}
			return true
		default:
			return false
		}
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 1000 {
			e.Appender.Wake(box)
		}
	}()
	select {
	case <-done:
	case <-time.After(e.patience):
		e.Fatal(fmt.Errorf("a thousand calls of Wake took longer than %s; it must not block", e.patience))
	}
}
