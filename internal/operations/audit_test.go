package operations_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func TestTheAuditLogTakesWhoAndWhy(t *testing.T) {
	t.Parallel()
	if err := operations.ValidAudit(store.Audit{Who: "an operator", Why: strings.Repeat("w", operations.MaxAuditText)}); err != nil {
		t.Errorf("the longest reason: %v", err)
	}
	if err := operations.ValidAudit(store.Audit{Who: "an operator", Why: " \t"}); !errors.Is(err, operations.ErrNoReason) || !errors.Is(err, operations.ErrInvalid) {
		t.Errorf("no reason: %v", err)
	}
	for what, a := range map[string]store.Audit{
		"nobody":      {Why: "a test"},
		"a NUL":       {Who: "an\x00operator", Why: "a test"},
		"no UTF-8":    {Who: "an operator", Why: "\xff"},
		"a long text": {Who: "an operator", Why: strings.Repeat("w", operations.MaxAuditText+1)},
	} {
		if err := operations.ValidAudit(a); !errors.Is(err, operations.ErrInvalid) || errors.Is(err, operations.ErrNoReason) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAnInterruptedCommandHasAReasonThatTheAuditLogTakes(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"a flood", strings.Repeat("w", operations.MaxAuditText), strings.Repeat("\u00e9", operations.MaxAuditText/2)} {
		a := operations.Interrupted(store.Audit{Who: "an operator", Why: why})
		if err := operations.ValidAudit(a); err != nil || !strings.HasPrefix(a.Why, "interrupted: "+why[:6]) || len(a.Why) < min(len(why), operations.MaxAuditText-1) {
			t.Errorf("of a reason of %d bytes becomes %q: %v", len(why), a.Why, err)
		}
	}
}

// Whatever changes a store says who and why, also where no command line has looked at it.
func TestNothingIsChangedWithoutAReason(t *testing.T) {
	t.Parallel()
	s, m := withDead(t, 2)
	nobody := store.Audit{Who: "an operator"}
	p, err := s.Preview(t.Context(), allDead())
	if err != nil {
		t.Fatal(err)
	}
	_, run := s.Run(p, nobody).Do(t.Context())
	_, erase := s.Erase(t.Context(), nobody, boxtest.Outbox.Box, p.IDs)
	_, accept := s.AcceptLedger(t.Context(), nobody, boxtest.Outbox.Box)
	for what, err := range map[string]error{"a command": run, "an erasure": erase, "a ledger": accept} {
		if !errors.Is(err, operations.ErrNoReason) {
			t.Errorf("%s: %v", what, err)
		}
	}
	entries, err := m.Audited(t.Context(), 10)
	if err != nil || len(entries) != 0 {
		t.Errorf("they left %d lines in the audit log: %v", len(entries), err)
	}
}

func TestTheAuditLogIsShownTheNewestFirst(t *testing.T) {
	t.Parallel()
	s, _ := withDead(t, 1200)
	p, err := s.Preview(t.Context(), allDead())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(p, audit()).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines, err := s.AuditLog(t.Context(), 2)
	if err != nil || len(lines) != 2 || lines[0].Who != "an operator" || lines[0].Why != "a test" || !strings.Contains(lines[0].What, "discard") || lines[0].At.Before(lines[1].At) {
		t.Errorf("the latest two of three lines are %+v: %v", lines, err)
	}
	for _, limit := range []int{0, -1, operations.MaxAuditLines + 1} {
		if _, err := s.AuditLog(t.Context(), limit); !errors.Is(err, operations.ErrInvalid) {
			t.Errorf("%d lines: %v", limit, err)
		}
	}
}
