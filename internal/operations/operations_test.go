package operations_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// audit is who does what the tests do.
func audit() store.Audit { return store.Audit{Who: "an operator", Why: "a test"} }

// withDead is a box in which n messages are dead, the first of them of the topic "first".
func withDead(t *testing.T, n int) (operations.Store, *memstore.Store) {
	t.Helper()
	m := memstore.New(memstore.Options{})
	return deadIn(t, m, n), m
}

// deadIn makes that box in a store.
func deadIn(t *testing.T, m *memstore.Store, n int) operations.Store {
	t.Helper()
	if err := m.CreateBox(t.Context(), boxtest.Outbox.Box); err != nil {
		t.Fatal(err)
	}
	d := boxtest.New(t, m)
	msgs := boxtest.Messages(n, "")
	msgs[0].Topic = "first"
	d.Must(m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, boxtest.Outbox.Box, msgs) }))
	records := d.Read()
	parks := make([]store.Park, len(records))
	for i, r := range records {
		parks[i] = store.Park{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead, Attempts: 1, Reason: "refused"}
	}
	d.Settle(&d.Lease, store.Settlement{To: d.At, Park: parks, Tally: boxtest.Tally(store.TallyParked, records...)})
	s, err := operations.Of(m)
	d.Must(err)
	return s
}

// allDead chooses all dead messages.
func allDead() operations.Choice {
	return operations.Choice{Ref: boxtest.Outbox, Kind: store.Discard, Query: store.Query{State: store.StateDead}, All: true, Filter: "--all"}
}

func TestAPreviewChangesNothingAndKeepsTheFirstMessages(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 1200)
	p, err := s.Preview(t.Context(), allDead())
	if err != nil || p.Size() != 1200 || len(p.First) != operations.PreviewItems || p.First[0].Topic != "first" {
		t.Fatalf("a preview of 1200 messages has %d, and shows %d: %v", p.Size(), len(p.First), err)
	}
	entries, err := m.Audited(t.Context(), 10)
	if err != nil || len(entries) != 0 {
		t.Errorf("a preview left %d lines in the audit log: %v", len(entries), err)
	}
}

func TestACommandForNoMessageIsNotFound(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 1)
	for what, c := range map[string]operations.Choice{
		"a topic that no message has": {Ref: boxtest.Outbox, Kind: store.Retry, Query: store.Query{State: store.StateDead, Topic: "none"}},
		"an id that no message has":   {Ref: boxtest.Outbox, Kind: store.Retry, IDs: []postbag.ID{postbag.NewID()}},
	} {
		if _, err := s.Preview(t.Context(), c); !errors.Is(err, operations.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.Look(t.Context(), "elsewhere"); !errors.Is(err, operations.ErrNotFound) || !strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("a box that is not there: %v", err)
	}
}

func TestACommandIsGivenInPiecesThatCanBePausedAndGoOn(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 1200)
	p, err := s.Preview(t.Context(), allDead())
	if err != nil {
		t.Fatal(err)
	}
	run := s.Run(p, audit())
	var steps []operations.Progress
	paused := make(chan struct{})
	run.OnProgress = func(at operations.Progress) {
		steps = append(steps, at)
		if len(steps) == 1 {
			run.Pause()
			close(paused)
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := run.Do(t.Context())
		ended <- err
	}()
	<-paused
	if at := run.Progress(); !at.Paused || at.Handled != 500 || at.Chosen != 1200 {
		t.Errorf("a run that is paused after its first step says %+v", at)
	}
	select {
	case err := <-ended:
		t.Fatalf("a run that is paused ended: %v", err)
	default:
	}
	run.Resume()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if at := run.Progress(); at.Paused || at.Handled != 1200 || at.Queued != 1200 || len(steps) != 3 {
		t.Errorf("in the end it says %+v after %d steps", at, len(steps))
	}
	entries, err := m.Audited(t.Context(), 10)
	if err != nil || len(entries) != 3 || entries[0].Who != "an operator" || !strings.Contains(entries[0].What, "--all") {
		t.Errorf("the audit log says %+v: %v", entries, err)
	}
}

func TestACancelledCommandSaysHowFarItGotAndCanBeGivenAgain(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 700)
	p, err := s.Preview(t.Context(), allDead())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	run := s.Run(p, audit())
	run.OnProgress = func(operations.Progress) {
		run.Pause() // cancelling ends a pause too
		cancel()
	}
	at, err := run.Do(ctx)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "500 of 700 messages are queued; give the command again") || at.Queued != 500 {
		t.Fatalf("a run that was cancelled after its first step: %+v, %v", at, err)
	}
	again := s.Run(p, audit())
	if at, err = again.Do(t.Context()); err != nil || at.Queued != 200 || at.Handled != 700 {
		t.Errorf("given again: %+v, %v", at, err)
	}
}

// Between a preview and the command, a colleague retries some of the messages. They are not to be lost then.
func TestACommandForOneStateLeavesMessagesThatChangedSinceThePreview(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 1200)
	looks := store.Query{Ref: boxtest.Outbox, State: store.StateDead, Oldest: true, Limit: 1000}
	items, _, err := m.List(t.Context(), looks)
	if err != nil {
		t.Fatal(err)
	}
	one := operations.Choice{Ref: boxtest.Outbox, Kind: store.Discard, IDs: []postbag.ID{items[7].ID, items[3].ID}, Only: store.StateDead}
	all := allDead()
	all.Only = store.StateDead
	for _, c := range []struct {
		name                     string
		choice                   operations.Choice
		retried, queued, changed int
	}{{"by ids", one, 7, 1, 1}, {"by a query", all, 700, 1197, 2}} {
		p, err := s.Preview(t.Context(), c.choice)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Command(t.Context(), audit(), boxtest.Outbox, store.Retry, []int64{items[c.retried].Seq}); err != nil {
			t.Fatal(err)
		}
		at, err := s.Run(p, audit()).Do(t.Context())
		if err != nil || at.Handled != p.Size() || at.Queued != c.queued || at.Changed != c.changed {
			t.Errorf("%s: the run says %+v: %v", c.name, at, err)
		}
	}
}

// full has no room for commands at first.
type full struct {
	store.Operator
	refusals int
}

func (f *full) Command(ctx context.Context, a store.Audit, r store.Ref, kind store.CommandKind, seqs []int64) (int, error) {
	if f.refusals > 0 {
		f.refusals--
		return 0, fmt.Errorf("discard: %w", store.ErrTooManyCommands)
	}
	return f.Operator.Command(ctx, a, r, kind, seqs)
}

func TestACommandWaitsForRelaysWhileTooManyAreQueued(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := withDead(t, 600)
		s.Operator = &full{s.Operator, 3}
		p, err := s.Preview(t.Context(), allDead())
		if err != nil {
			t.Fatal(err)
		}
		run := s.Run(p, audit())
		var waited []int
		run.OnProgress = func(at operations.Progress) {
			if at.Waits {
				waited = append(waited, at.Handled)
			}
		}
		at, err := run.Do(t.Context())
		if err != nil || at.Queued != 600 || at.Waits {
			t.Errorf("in the end it says %+v, %v", at, err)
		}
		if len(waited) != 1 || waited[0] != 0 {
			t.Errorf("it told of waiting after %v messages, want once, after none", waited)
		}
	})
}

func TestACommandKeepsToItsRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := withDead(t, 250)
		p, err := s.Preview(t.Context(), allDead())
		if err != nil {
			t.Fatal(err)
		}
		run := s.Run(p, audit())
		run.Rate = 50
		began, given := time.Now(), 0
		run.OnProgress = func(at operations.Progress) {
			if most := 5 + int(time.Since(began)*50/time.Second); at.Handled > most {
				t.Errorf("after %v %d messages have the command, more than %d", time.Since(began), at.Handled, most)
			}
			given = at.Handled
		}
		if _, err := run.Do(t.Context()); err != nil || given != 250 {
			t.Errorf("%d of 250 messages have the command: %v", given, err)
		}
		if took := time.Since(began); took < 4*time.Second || took > 6*time.Second { // of the clock of the bubble
			t.Errorf("250 messages at 50 a second took %v", took)
		}
	})
}

func TestEraseSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 2)
	items, _, err := s.List(t.Context(), store.Query{Ref: boxtest.Outbox, State: store.StateDead})
	if err != nil {
		t.Fatal(err)
	}
	nowhere := postbag.NewID()
	erased, err := s.Erase(t.Context(), audit(), boxtest.Outbox.Box, []postbag.ID{items[0].ID, nowhere, nowhere})
	if err != nil || erased.Missing != 1 || len(erased.Refused) != 1 {
		t.Errorf("of a dead message and one that is not there: %+v, %v", erased, err)
	}
	if err := erased.Err(); err == nil || errors.Is(err, operations.ErrNotFound) || !strings.HasSuffix(err.Error(), "1 of 2 are still to be delivered and were not erased; discard them first: "+items[0].ID.String()) {
		t.Errorf("they say %v", err)
	}
	erased, err = s.Erase(t.Context(), audit(), boxtest.Outbox.Box, []postbag.ID{nowhere})
	if err := errors.Join(err, erased.Err()); !errors.Is(err, operations.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if _, err := s.Erase(t.Context(), audit(), boxtest.Outbox.Box, nil); !errors.Is(err, operations.ErrUnsupported) {
		t.Errorf("no ids: %v", err)
	}
	if _, err := (operations.Store{}).AcceptLedger(t.Context(), audit(), "outbox"); !errors.Is(err, operations.ErrUnsupported) {
		t.Errorf("a store without an editor: %v", err)
	}
}

func TestScheduledMessagesAreFoundWhateverSubscriptionsThereAre(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 1)
	later := boxtest.Messages(2, "")
	later[0].NotBefore, later[1].NotBefore = time.Now().Add(time.Hour), time.Now().Add(time.Hour)
	if err := m.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return m.Append(ctx, tx, boxtest.Outbox.Box, later) }); err != nil {
		t.Fatal(err)
	}
	c := operations.Choice{
		Ref: store.Ref{Box: boxtest.Outbox.Box, Subscription: "nobody"}, Kind: store.Retry, Only: store.StateScheduled,
		Query: store.Query{State: store.StateScheduled}, All: true,
	}
	p, err := s.Preview(t.Context(), c)
	if err != nil || p.Size() != 2 {
		t.Errorf("the preview of two scheduled messages is %+v: %v", p, err)
	}
}
