package pgstore

import (
	"context"

	"github.com/postbag/postbag/store"
)

var _ store.Noter = (*Store)(nil)

// Note implements store.Noter.
func (s *Store) Note(ctx context.Context, a store.Audit, what string) error {
	const doing = "write to the audit log"
	a, err := audited(a)
	if err != nil {
		return err
	}
	if what = auditText(what); what == "" {
		return &fault{doing: doing, said: "what was done is missing", fix: "give it, it goes to the audit log"}
	}
	return translateError(doing, s.guarded(ctx, func(v *server) error {
		return s.run(ctx, s.guard(v, "", nil), s.note(a, what+selectedBy(a)))
	}))
}
