package operations

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// MaxAuditText bounds who gives a command, and why, in bytes each.
const MaxAuditText = 1024

// MaxAuditLines is how much of the audit log one look shows.
const MaxAuditLines = 100_000

// ErrNoReason is ErrInvalid, and says that a command comes without a reason. Nothing was changed.
var ErrNoReason error = &refusal{ErrInvalid, "no reason is given; say why, for the audit log"}

// ValidAudit says what the audit log does not take of who gives a command and why. A missing reason is ErrNoReason.
func ValidAudit(a store.Audit) error {
	if strings.TrimSpace(a.Why) == "" {
		return ErrNoReason
	}
	if strings.TrimSpace(a.Who) == "" {
		return refusef(ErrInvalid, "nobody is named who gives the command; say who, for the audit log")
	}
	for _, text := range []string{a.Who, a.Why} {
		if len(text) > MaxAuditText || strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
			return refusef(ErrInvalid, "who or why is no text of at most %d bytes; shorten it", MaxAuditText)
		}
	}
	return nil
}

// Interrupted is what the audit log gets of a command that was ended: why it was given, behind a word that says so, and cut to what fits.
func Interrupted(a store.Audit) store.Audit {
	a.Why = "interrupted: " + a.Why
	if len(a.Why) > MaxAuditText {
		a.Why = strings.ToValidUTF8(a.Why[:MaxAuditText], "")
	}
	return a
}

// NoteLook writes to the audit log that somebody looks at payload and headers of a message. Show them when it has returned nil.
func (s Store) NoteLook(ctx context.Context, a store.Audit, box string, m *store.Item) error {
	if err := ValidAudit(a); err != nil {
		return err
	}
	if s.Noter == nil {
		return refusef(ErrUnsupported, "this kind of store keeps no looks in its audit log; nothing is shown")
	}
	return s.Noter.Note(ctx, a, fmt.Sprintf("look at %s %s (%s)", box, m.ID, m.Topic))
}

// AuditLine is one line of the audit log in JSON. Names of fields are a contract.
type AuditLine struct {
	// When it was.
	At time.Time `json:"at"`
	// Who did it.
	Who string `json:"who"`
	// Why.
	Why string `json:"why"`
	// What was done.
	What string `json:"what"`
}

// AuditLog returns the latest lines of the audit log, at most limit, the newest first.
func (s Store) AuditLog(ctx context.Context, limit int) ([]AuditLine, error) {
	if limit < 1 || limit > MaxAuditLines {
		return nil, refusef(ErrInvalid, "%d lines of the audit log are asked for; choose between 1 and %d", limit, MaxAuditLines)
	}
	entries, err := s.Audited(ctx, limit)
	if err != nil {
		return nil, err
	}
	lines := make([]AuditLine, len(entries))
	for i, e := range entries {
		lines[i] = AuditLine{e.At, e.Who, e.Why, e.What}
	}
	return lines, nil
}
