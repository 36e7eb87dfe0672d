package operations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// MaxErase is how many messages one Erase takes.
const MaxErase = 1000

// Erasure is what became of messages that were to be erased, in JSON. Names of fields are a contract.
type Erasure struct {
	// The box.
	Box string `json:"box"`
	// How many were overwritten.
	Erased int `json:"erased"`
	// How many the box does not hold.
	Missing int `json:"missing"`
	// Those that a subscription has still to deliver, which were not erased.
	Refused []postbag.ID `json:"refused"`
}

// Erase overwrites payload, headers and key of messages, as store.Editor has it. An id that is named twice counts once. More than
// MaxErase ids, and a store that cannot erase, are errors, and nothing is erased.
func (s Store) Erase(ctx context.Context, a store.Audit, box string, ids []postbag.ID) (Erasure, error) {
	e := Erasure{Box: box, Refused: []postbag.ID{}}
	if err := ValidAudit(a); err != nil {
		return e, err
	}
	var distinct []postbag.ID
	for _, id := range ids {
		if !slices.Contains(distinct, id) {
			distinct = append(distinct, id)
		}
	}
	switch {
	case s.Editor == nil:
		return e, errNoEditor()
	case len(distinct) == 0 || len(distinct) > MaxErase:
		return e, refusef(ErrUnsupported, "%d messages are named; name 1 to %d ids", len(distinct), MaxErase)
	}
	erased, err := s.Editor.Erase(ctx, a, box, distinct)
	if err != nil {
		return e, err
	}
	e.Erased, e.Refused = erased.Messages, append(e.Refused, erased.Refused...)
	e.Missing = len(distinct) - e.Erased - len(e.Refused)
	return e, nil
}

// Err says which of the messages were not erased. If the box does not hold some of them, and all others were erased, it is ErrNotFound.
func (e *Erasure) Err() error {
	all := e.Erased + e.Missing + len(e.Refused)
	switch {
	case len(e.Refused) > 0:
		refused := make([]string, len(e.Refused))
		for i, id := range e.Refused {
			refused[i] = id.String()
		}
		return fmt.Errorf("%d of %d are still to be delivered and were not erased; discard them first: %s", len(refused), all, strings.Join(refused, " "))
	case e.Missing > 0:
		return refusef(ErrNotFound, "%d of %d are not in box %s; nothing of them was erased", e.Missing, all, e.Box)
	}
	return nil
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
