package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// oneDead is a box with one dead message.
func oneDead(tb testing.TB) (*testBox, store.Record) {
	tb.Helper()
	s := newTestBox(tb)
	s.publish(boxtest.Messages(1, "a")...)
	r := s.Read()[0]
	s.Settle(&s.Lease, store.Settlement{To: s.At, Park: []store.Park{{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: store.ParkDead}}})
	return s, r
}

func TestCommandsWithInvalidTextAreAudited(t *testing.T) {
	t.Parallel()
	s, r := oneDead(t)
	a := store.Audit{Who: "A\x00B\xff", Why: strings.Repeat("ü", 2000)}
	n, err := s.Command(t.Context(), a, outbox, store.Retry, []int64{r.Seq, r.Seq, -1, 1 << 62})
	s.Must(err)
	if n != 1 {
		t.Errorf("a command for one parked message was queued for %d", n)
	}
	got, err := s.Audited(t.Context(), 10)
	s.Must(err)
	if len(got) != 1 || got[0].Who != "A\uFFFDB\uFFFD" || len(got[0].Why) > 1024 || !utf8.ValidString(got[0].Why) ||
		got[0].What != fmt.Sprintf("retry outbox/default 1 (orders, %s)", r.ID) {
		t.Errorf("the audit log says %+v", got)
	}
}

func TestTheAuditNamesTwentyMessagesAndCountsTheRest(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(25, "")...)
	st := store.Settlement{}
	var seqs []int64
	for _, r := range s.Read() {
		st.Park = append(st.Park, store.Park{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead})
		seqs = append(seqs, r.Seq)
	}
	s.Settle(&s.Lease, st)
	if n, err := s.Command(t.Context(), store.Audit{Who: "x", Why: "y"}, outbox, store.Discard, seqs); err != nil || n != 25 {
		t.Fatalf("queued for %d: %v", n, err)
	}
	got, err := s.Audited(t.Context(), 1)
	s.Must(err)
	what := got[0].What
	for i := range 25 {
		if named := strings.Contains(what, fmt.Sprintf(" %d (orders, ", i+1)); named != (i < 20) {
			t.Errorf("message %d is named %v: %q", i+1, named, what)
		}
	}
	if !strings.HasPrefix(what, "discard outbox/default 1 (orders, ") || !strings.HasSuffix(what, ") and 5 more") {
		t.Errorf("the audit log says %q", what)
	}
}

func TestInvalidCommandsAreRefusedAndNotAudited(t *testing.T) {
	t.Parallel()
	s, r := oneDead(t)
	a := store.Audit{Who: "x", Why: "y"}
	seqs := []int64{r.Seq}
	if _, err := s.Command(t.Context(), a, upkeep, store.Retry, seqs); !errors.Is(err, store.ErrNoSubscription) {
		t.Errorf("a command to the housekeeping: %v", err)
	}
	if _, err := s.Command(t.Context(), a, store.Ref{Box: "outbox", Subscription: "nobody"}, store.Retry, seqs); !errors.Is(err, store.ErrNoSubscription) {
		t.Errorf("a command to nobody: %v", err)
	}
	if _, err := s.Command(t.Context(), a, store.Ref{Box: "nothing", Subscription: "default"}, store.Retry, seqs); !errors.Is(err, store.ErrNoBox) {
		t.Errorf("a command in no box: %v", err)
	}
	if _, err := s.Command(t.Context(), a, outbox, 7, seqs); err == nil {
		t.Error("a command of an unknown kind was taken")
	}
	if n, err := s.Command(t.Context(), a, outbox, store.Retry, nil); err != nil || n != 0 {
		t.Errorf("a command for nothing was queued for %d: %v", n, err)
	}
	for _, n := range []int{0, -1, store.SlotCount + 1} {
		if err := s.SetShards(t.Context(), a, outbox, n); err == nil {
			t.Errorf("%d shards were asked for without an error", n)
		}
	}
	if got, err := s.Audited(t.Context(), 100); err != nil || len(got) != 0 {
		t.Errorf("what was refused left %d entries: %v", len(got), err)
	}
	if got, err := s.Audited(t.Context(), -1); err != nil || len(got) != 0 {
		t.Errorf("no entries asked for, %d come: %v", len(got), err)
	}
}

func TestAskingForTheSameNumberOfShardsIsAuditedAndWakesNobody(t *testing.T) {
	t.Parallel()
	s, _ := oneDead(t)
	epoch := func() int64 { return s.number("SELECT n FROM postbag._epoch") }
	before := epoch()
	s.Must(s.SetShards(t.Context(), store.Audit{Who: "x", Why: "y"}, outbox, 1))
	if epoch() != before {
		t.Error("a command that changes nothing changes the epoch")
	}
	s.Must(s.SetShards(t.Context(), store.Audit{Who: "x", Why: "y"}, outbox, 3))
	got, err := s.Audited(t.Context(), 10)
	s.Must(err)
	if epoch() != before+1 || len(got) != 2 || got[0].What != "shards outbox/default 3" {
		t.Errorf("the epoch went from %d to %d; audited: %+v", before, epoch(), got)
	}
}

func TestASubscriptionThatIsRemovedAtThatMomentIsNotSet(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(s *testBox, a store.Audit) error{
		"settings": func(s *testBox, a store.Audit) error {
			return s.Tune(context.Background(), a, outbox, []store.Setting{{Name: store.SettingBatch, Value: "7"}}, nil)
		},
		"filter": func(s *testBox, a store.Audit) error {
			return s.SetFilter(context.Background(), a, outbox, store.Filter{Types: []string{"order"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestBox(t)
			tx, err := s.plain.Begin(t.Context())
			s.Must(err)
			_, err = tx.Exec(t.Context(), `WITH u AS (SELECT id FROM postbag._subscriptions WHERE name = 'default'), c AS (
				DELETE FROM postbag._cuts WHERE sub IN (SELECT id FROM u)), s AS (DELETE FROM postbag._shards WHERE sub IN (SELECT id FROM u))
				DELETE FROM postbag._subscriptions WHERE id IN (SELECT id FROM u)`)
			s.Must(err)
			got := make(chan error, 1)
			go func() { got <- set(s, store.Audit{Who: "x", Why: "y"}) }()
			s.Eventually("it waits for the removal", func() bool {
				return s.number("SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'", s.name) == 1
			})
			s.Must(tx.Commit(t.Context()))
			if err := <-got; !errors.Is(err, store.ErrNoSubscription) {
				t.Errorf("to set what was removed just now: %v", err)
			}
			if lines, err := s.Audited(t.Context(), 10); err != nil || len(lines) > 0 {
				t.Errorf("the audit log has %+v: %v", lines, err)
			}
		})
	}
}
