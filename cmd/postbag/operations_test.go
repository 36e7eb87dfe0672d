//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
)

// longOperations are the long operations of a store.
func longOperations(t *testing.T, at *place) (all []operations.Operation) {
	t.Helper()
	cli(t, "operations", "list", at.flag, at.where, "--json").ok().json(&all)
	return all
}

// storeAt is the store of a place.
func storeAt(t *testing.T, at *place) *component.Store {
	t.Helper()
	where := config.Store{DSN: at.where}
	if at.flag == "--store-file" {
		where = config.Store{DSNFile: at.where}
	}
	s, err := component.OpenStore(t.Context(), where, component.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// manyDead publishes n messages of no key, and has them die.
func manyDead(t *testing.T, at *place, n int) {
	t.Helper()
	s := storeAt(t, at)
	d := boxtest.New(t, s.Store)
	for part := range slices.Chunk(boxtest.Messages(n, ""), 5000) {
		d.Must(s.Publish(t.Context(), "outbox", part))
	}
	for read := 0; read < n; {
		res, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{{Ref: boxtest.Outbox, Slots: []store.Slots{store.AllSlots}, From: d.At, Limit: 2000, Bytes: 64 << 20}}})
		d.Must(err)
		batch := res.Batches[0]
		d.Must(batch.Err)
		st := store.Settlement{To: batch.Next, Tally: boxtest.Tally(store.TallyParked, batch.Records...)}
		for _, r := range batch.Records {
			st.Park = append(st.Park, store.Park{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead, Attempts: 1, Reason: "refused"})
		}
		d.Settle(&d.Lease, st)
		d.At, read = batch.Next, read+len(batch.Records)
	}
	d.Must(s.Close())
}

// detached runs a command in a process of its own.
func detached(t *testing.T, args ...string) (cmd *exec.Cmd, said *buffer) {
	t.Helper()
	said = &buffer{}
	cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, said
}

// killed waits until the first operation has come further than before, and kills the process that works it, at any moment. What is
// there then agrees with the record: as many commands as were given, and no portion of them in part. Then the lease is over.
func killed(t *testing.T, at *place, cmd *exec.Cmd, said *buffer, before int64) (o operations.Operation) {
	t.Helper()
	await(t, "the operation comes further: "+said.String(), func() bool {
		all := longOperations(t, at)
		return len(all) > 0 && all[0].At > before
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	o = longOperations(t, at)[0]
	if o.State != store.OperationRunning || o.At >= o.Matched || o.Given != o.At || o.Changed+o.Passed > 0 {
		t.Fatalf("after a kill the operation is %+v: %s", o, said.String())
	}
	s := storeAt(t, at)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if n := commandsOf(t, s); n != o.Given {
		t.Fatalf("after a kill %d messages have the command, and the record says %d", n, o.Given)
	}
	book, ok := s.Store.(store.Bookkeeper)
	if !ok {
		t.Fatalf("a store of %s keeps no operations", s.Kind)
	}
	k, err := book.Operation(t.Context(), o.ID)
	if err == nil {
		err = book.ReleaseOperation(t.Context(), store.OperationClaim{ID: k.ID, Token: k.Token}, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// commandsOf is how many commands wait for relays.
func commandsOf(t *testing.T, s *component.Store) int64 {
	t.Helper()
	v, err := s.Overview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.Boxes[0].Subscriptions {
		if sub := &v.Boxes[0].Subscriptions[i]; sub.Subscription == boxtest.Outbox.Subscription {
			return sub.Commands
		}
	}
	t.Fatal("there is no subscription")
	return 0
}

// The command and then whatever goes on with it are killed at any moment. Each message gets the command once. In the long form they
// are 100,000 messages.
func TestACommandForManyMessagesSurvivesItsProcess(t *testing.T) {
	t.Parallel()
	n := 6000
	if servertest.Full() {
		n = 100_000
	}
	onEachStore(t, func(t *testing.T, at *place) {
		manyDead(t, at, n)
		cmd, said := detached(t, "messages", "delete", "--all", "--yes", "--rate", fmt.Sprint(n), "--why", "nobody needs them", at.flag, at.where)
		o := killed(t, at, cmd, said, 0)
		if o.Kind != store.OperationDelete || o.Matched != int64(n) || o.Why != "nobody needs them" {
			t.Errorf("the operation is %+v", o)
		}
		cmd, said = detached(t, "operations", "run", at.flag, at.where)
		o = killed(t, at, cmd, said, o.At)
		cmd, said = detached(t, "operations", "resume", fmt.Sprint(o.ID), "--why", "go on", at.flag, at.where)
		o = killed(t, at, cmd, said, o.At)
		cli(t, "operations", "resume", fmt.Sprint(o.ID), "--why", "go on", at.flag, at.where).ok().says(fmt.Sprintf("queued %d of %d messages", n, n))
		if o = longOperations(t, at)[0]; o.State != store.OperationDone || o.Given != int64(n) || o.Changed+o.Passed > 0 {
			t.Errorf("in the end the operation is %+v", o)
		}
		s := storeAt(t, at)
		if got := commandsOf(t, s); got != int64(n) {
			t.Errorf("%d messages have the command, not %d", got, n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		log := cli(t, "audit", at.flag, at.where).ok().says("begin operation 1: delete outbox/default", "selected by --all", fmt.Sprintf("%d given, 0 changed, 0 passed", n)).out
		if strings.Count(log, "operation 1:") != 2 {
			t.Errorf("the audit log says\n%s", log)
		}
	})
}

func TestOperationsArePausedResumedAndCancelledFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		manyDead(t, at, 2000)
		cmd, said := detached(t, "messages", "retry", "--all", "--yes", "--rate", "500", "--why", "fixed", at.flag, at.where)
		await(t, "it has begun", func() bool { all := longOperations(t, at); return len(all) == 1 && all[0].At > 0 })
		cli(t, "operations", "pause", "1", "--who", "anna", "--why", "too fast", at.flag, at.where).ok().says("operation 1 is paused")
		paused := longOperations(t, at)[0]
		cli(t, "operations", "list", at.flag, at.where).ok().says("retry", "outbox/default", "paused", fmt.Sprintf("%d/2000", paused.At))
		cli(t, "operations", "show", "1", at.flag, at.where).ok().says("retry 2000 dead messages of outbox/default", "anna: too fast", `{"filter":"--all"}`, "at most 500 a second", "worked by")
		cli(t, "operations", "run", at.flag, at.where).ok().says("no operation")
		if o := longOperations(t, at)[0]; o.At != paused.At || o.State != store.OperationPaused {
			t.Errorf("in the pause it went from %d to %d, and is %s", paused.At, o.At, o.State)
		}
		cli(t, "operations", "resume", "1", "--why", "go on", at.flag, at.where).ok().says("another process has operation 1", "is running")
		await(t, "it goes on", func() bool { return longOperations(t, at)[0].At > paused.At })
		cli(t, "operations", "cancel", "1", "--who", "anna", "--why", "the wrong ones", at.flag, at.where).ok().says("operation 1 is cancelled")
		if err := cmd.Wait(); err == nil || !strings.Contains(said.String(), "cancelled by anna: the wrong ones") {
			t.Errorf("it ended with %v, and says %q", err, said.String())
		}
		o := longOperations(t, at)[0]
		if o.State != store.OperationCancelled || o.At >= 2000 || o.Given != o.At {
			t.Errorf("the cancelled operation is %+v", o)
		}
		if s := storeAt(t, at); commandsOf(t, s) != o.Given || s.Close() != nil {
			t.Errorf("not as many messages have the command as the record says: %d", o.Given)
		}
		cli(t, "operations", "resume", "1", "--why", "no", at.flag, at.where).ends(exit.Usage, "is cancelled")
		cli(t, "operations", "show", "2", at.flag, at.where).ends(exit.NotFound, "there is no operation 2")
		cli(t, "operations", "show", "first", at.flag, at.where).ends(exit.Usage, "no number of an operation")
		cli(t, "audit", at.flag, at.where).ok().says("anna", "the wrong ones", "end operation 1: retry outbox/default is cancelled")
	})
}

func TestCtrlCPausesAnOperation(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	manyDead(t, at, 1000)
	if cli(t, "operations", "list", at.flag, at.where).ok().says("there is no operation"); len(longOperations(t, at)) > 0 {
		t.Error("there is one")
	}
	cmd, said := detached(t, "messages", "discard", "--all", "--yes", "--rate", "300", "--why", "a flood", at.flag, at.where)
	await(t, "it has begun", func() bool { all := longOperations(t, at); return len(all) == 1 && all[0].At > 0 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its code follows
	if code := cmd.ProcessState.ExitCode(); code != int(exit.Interrupted) || !strings.Contains(said.String(), "postbag operations resume 1 goes on with it") {
		t.Errorf("it ended with %d and %q", code, said.String())
	}
	if o := longOperations(t, at)[0]; o.State != store.OperationPaused || o.Worker != "" {
		t.Errorf("interrupted, it is left as %+v", o)
	}
	begin := time.Now()
	cli(t, "operations", "resume", "1", "--why", "the rest", at.flag, at.where).ok().says("queued 1000 of 1000 messages")
	if time.Since(begin) < time.Second {
		t.Error("the rest was given faster than its rate")
	}
}

// An interrupted run says what goes on, and how. It pauses nothing.
func TestCtrlCOfARunSaysWhatBecomesOfEachOperation(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	manyDead(t, at, 1500)
	for _, do := range []string{"discard", "retry"} {
		cmd, said := detached(t, "messages", do, "--all", "--yes", "--rate", "200", "--why", "a test", at.flag, at.where)
		id := map[string]store.OperationID{"discard": 1, "retry": 2}[do]
		await(t, "it has begun: "+said.String(), func() bool { all := longOperations(t, at); return len(all) == int(id) && all[0].At > 0 })
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		s := storeAt(t, at)
		book, is := s.Store.(store.Bookkeeper)
		if !is {
			t.Fatal("the store keeps no operations")
		}
		k, err := book.Operation(t.Context(), id)
		if err == nil {
			err = book.ReleaseOperation(t.Context(), store.OperationClaim{ID: id, Token: k.Token}, "")
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	before := longOperations(t, at)[1].At
	cmd, said := detached(t, "operations", "run", at.flag, at.where)
	await(t, "the run has begun: "+said.String(), func() bool { return longOperations(t, at)[1].At > before })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its code follows
	all := longOperations(t, at)
	if code := cmd.ProcessState.ExitCode(); code != int(exit.Interrupted) {
		t.Errorf("it ended with %d", code)
	}
	for _, o := range all {
		says := fmt.Sprintf("operation %d is running, with %d of 1500 messages behind it, and nobody works it", o.ID, o.At)
		if !o.Idle || !strings.Contains(said.String(), says) || !strings.Contains(said.String(), fmt.Sprintf("postbag operations run or resume %d does at once", o.ID)) {
			t.Errorf("operation %d is %+v, and it says %q", o.ID, o, said.String())
		}
	}
}
