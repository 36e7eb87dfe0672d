package operations

import (
	"context"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// MaxErase is how many messages one Erase takes.
const MaxErase = 1000

// Erase overwrites payload, headers and key of messages, as store.Editor has it. Of the ids, missing are those that the box
// does not hold. More than MaxErase ids, and a store that cannot erase, are errors, and nothing is erased.
func (s Store) Erase(ctx context.Context, a store.Audit, box string, ids []postbag.ID) (erased store.Erased, missing int, err error) {
	err = ValidAudit(a)
	switch {
	case err != nil:
		return erased, 0, err
	case s.Editor == nil:
		return erased, 0, errNoEditor()
	case len(ids) == 0 || len(ids) > MaxErase:
		return erased, 0, refusef(ErrUnsupported, "%d messages are named; name 1 to %d ids", len(ids), MaxErase)
	}
	erased, err = s.Editor.Erase(ctx, a, box, ids)
	return erased, len(ids) - erased.Messages - len(erased.Refused), err
}

// AcceptLedger has retention go on where ledger and log differ, and returns what it accepted, a line each.
func (s Store) AcceptLedger(ctx context.Context, a store.Audit, box string) ([]string, error) {
	if err := ValidAudit(a); err != nil {
		return nil, err
	}
	if s.Editor == nil {
		return nil, errNoEditor()
	}
	return s.Editor.AcceptLedger(ctx, a, box)
}

func errNoEditor() error {
	return refusef(ErrUnsupported, "this kind of store cannot do that yet; nothing was done")
}
