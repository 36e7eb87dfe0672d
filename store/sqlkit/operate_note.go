package sqlkit

import (
	"context"
	"errors"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Note writes a line to the audit log; see [store.Noter].
func (s *Base) Note(ctx context.Context, a store.Audit, what string) error {
	const doing = "write to the audit log"
	if err := storekit.CheckAudit(a); err != nil {
		return s.dialect.Translate(doing, err)
	}
	if what == "" {
		return s.dialect.Translate(doing, errors.New("what was done is missing; give it, it goes to the audit log"))
	}
	return s.hooks.Write(ctx, doing, func(t *Tx) error { return t.audit(a, what) })
}
