package store

import (
	"context"

	"github.com/postbag/postbag"
)

// HeaderEditedFrom is the header in which a message that an operator edited has the id of the message that it was made of.
const HeaderEditedFrom = "Edited-From"

// Reviser is implemented by a store in which operators can publish an edited message again.
type Reviser interface {
	// Revise publishes m to a box, as a publisher with postbag.MaxPayload does, and writes that
	// it was edited from the message with the id of to the audit log, in one transaction. The
	// message of stays as it is, and need not be there any more. Errors are those of publishing.
	Revise(ctx context.Context, a Audit, box string, of postbag.ID, m postbag.Message) error
}
