package boxtest

import (
	"context"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Commander is a store that takes the commands of a console.
type Commander interface {
	store.Inspector
	store.Operator
	store.Editor
	store.Pauser
	store.Bookkeeper
	store.Tuner
	store.ErrorNoter
}

// Commands gives each command of a console over by, which is another store of the same database, such as one whose role has
// few rights. publish publishes to the box.
func (s *Driver) Commands(by Commander, publish func(...postbag.Message) []postbag.Message) {
	s.Helper()
	ctx, cancel := s.bounded()
	defer cancel()
	a := store.Audit{Who: "an operator", Why: "a test"}
	publish(Messages(2, "a")...)
	var st store.Settlement
	for _, r := range s.Read() {
		st.Park = append(st.Park, store.Park{Seq: r.Seq, Slot: r.Slot, State: store.ParkDead, Attempts: 1, Reason: "refused"})
	}
	st.To = s.At
	s.Settle(&s.Lease, st)
	publish(Messages(1, "a")...)
	pending, _ := s.ReadFrom(Outbox, s.At)
	one := func(what string, n int, err error) {
		s.Helper()
		if err != nil || n != 1 {
			s.Errorf("%s: it is done for %d messages: %v", what, n, err)
		}
	}
	command := func(what string, kind store.CommandKind, seq int64) {
		s.Helper()
		n, err := by.Command(ctx, a, Outbox, kind, []int64{seq})
		one(what, n, err)
	}
	command("retry", store.Retry, st.Park[0].Seq)
	command("discard", store.Discard, st.Park[1].Seq)
	command("discard a pending message", store.Discard, pending[0].Seq)
	later := Messages(2, "a")
	later[0].NotBefore, later[1].NotBefore = time.Now().Add(time.Hour), time.Now().Add(time.Hour)
	publish(later...)
	n, err := by.Scheduled(ctx, a, Outbox.Box, store.Retry, []postbag.ID{later[0].ID})
	one("publish now", n, err)
	n, err = by.Scheduled(ctx, a, Outbox.Box, store.Discard, []postbag.ID{later[1].ID})
	one("cancel", n, err)
	s.pauses(ctx, by, a)
	s.audited(ctx, by)
	s.tunes(ctx, by, a)
	s.notes(ctx, by, a)
	s.operates(ctx, by, a, publish(Messages(1, "a")...)[0].ID)
}

// notes writes, changes, reads and removes a note on the errors of the box.
func (s *Driver) notes(ctx context.Context, by Commander, a store.Audit) {
	s.Helper()
	for _, text := range []string{"told the vendor", "told the vendor again", ""} {
		s.Must(by.SetErrorNote(ctx, a, store.ErrorNote{Ref: Outbox, Kind: "refused", Text: text}))
		notes, err := by.ErrorNotes(ctx, Outbox)
		if s.Must(err); text == "" && len(notes) > 0 || text != "" && (len(notes) != 1 || notes[0].Text != text) {
			s.Errorf("after the note %q there are %+v", text, notes)
		}
	}
}

// tunes sets and resets a setting of the subscription, and sets how many shards it is to have.
func (s *Driver) tunes(ctx context.Context, by Commander, a store.Audit) {
	s.Helper()
	s.Must(by.Tune(ctx, a, Outbox, []store.Setting{{Name: store.SettingBatch, Value: "7"}}, nil))
	s.Must(by.Tune(ctx, a, Outbox, nil, []string{store.SettingBatch}))
	for _, n := range []int{3, 1} {
		s.Must(by.SetShards(ctx, a, Outbox, n))
	}
}

// operates begins a long operation over a pending message, and does with it all that a console does.
func (s *Driver) operates(ctx context.Context, by Commander, a store.Audit, of postbag.ID) {
	s.Helper()
	now, err := by.Clock(ctx)
	s.Must(err)
	found, _, err := by.List(ctx, store.Query{Ref: Outbox, ID: of})
	s.Must(err)
	id, err := by.PlanOperation(ctx, a, store.Operation{Ref: Outbox, Kind: store.OperationDiscard, Of: store.StatePending, Chosen: "{}", AsOf: now, Matched: 1})
	s.Must(err)
	for range 2 { // the second time in place of the first
		s.Must(by.AddMessages(ctx, id, 0, []store.OperationMessage{{Seq: found[0].Seq, ID: of}}))
	}
	s.Must(by.BeginOperation(ctx, a, id))
	for _, failed := range []string{"a test", ""} {
		s.Must(by.SetOperation(ctx, a, id, store.OperationRunning))
		o, err := by.ClaimOperation(ctx, id, "a console", time.Minute)
		s.Must(err)
		claim := store.OperationClaim{ID: id, Token: o.Token, Lease: time.Minute}
		if failed != "" {
			s.Must(by.SetOperation(ctx, a, id, store.OperationPaused))
			s.Must(by.SetOperation(ctx, a, id, store.OperationRunning))
			s.Must(by.ReleaseOperation(ctx, claim, failed))
			continue
		}
		if o, err = by.StepOperation(ctx, claim, 0, 1); err != nil || o.State != store.OperationDone || o.Given != 1 {
			s.Errorf("its one step leaves it %s with %d given: %v", o.State, o.Given, err)
		}
	}
}

// pauses begins and ends each kind of pause.
func (s *Driver) pauses(ctx context.Context, by Commander, a store.Audit) {
	s.Helper()
	s.Must(by.SetPaused(ctx, a, Outbox, true))
	for _, p := range []store.Pause{
		{Ref: Outbox, Scope: store.PauseSubscription},
		{Ref: Outbox, Scope: store.PauseTopic, Value: "orders"},
		{Scope: store.PauseDestination, Value: "broker"},
	} {
		for range 2 { // a new one, and one in its place
			s.Must(by.SetPause(ctx, a, p, time.Hour))
		}
		if ended, err := by.EndPause(ctx, a, p); err != nil || !ended {
			s.Errorf("resume %s: %v %v", p.String(), ended, err)
		}
	}
	s.Must(by.SetPaused(ctx, a, Outbox, false))
}

// audited checks that the commands are in the audit log.
func (s *Driver) audited(ctx context.Context, by Commander) {
	s.Helper()
	entries, err := by.Audited(ctx, 20)
	s.Must(err)
	var text strings.Builder
	for _, e := range entries {
		text.WriteString(e.What + "\n")
	}
	for _, what := range []string{"retry outbox/default 1 (", "discard outbox/default 2 (", "retry outbox scheduled ", "discard outbox scheduled ", "pause "} {
		if !strings.Contains(text.String(), what) {
			s.Errorf("the audit log has no %q:\n%s", what, text.String())
		}
	}
}
