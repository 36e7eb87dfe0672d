package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// whyLook is the reason of a look in the audit log: nobody is asked for one.
const whyLook = "to see payload and headers"

// noteLook writes to the audit log who is about to see payload and headers of a message, if looks are audited. Call it when they
// are read, and before they are shown: its error says why they are not. items are the copies of one message.
func (c *console) noteLook(ctx context.Context, r *http.Request, ops operations.Store, box string, items []store.Item) error {
	if !c.auditPayloads || len(items) == 0 {
		return nil
	}
	a := store.Audit{Who: c.nameOf(r), Why: whyLook}
	err := ops.NoteLook(ctx, a, box, &items[0])
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrDenied):
		return fmt.Errorf("the payload is not shown, since the look cannot be written to the audit log: %w; the console's role lacks the right: run what postbag grants ROLE --for console --audit prints", err)
	}
	return fmt.Errorf("the payload is not shown, since the look cannot be written to the audit log: %w", err)
}

// nameOf is the one who asks, for the audit log.
func (c *console) nameOf(r *http.Request) string {
	if u := userOf(r.Context()); u != nil {
		return u.Name
	}
	return c.who
}
