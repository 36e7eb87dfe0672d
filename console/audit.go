package console

import (
	"context"
	"net/http"

	"github.com/postbag/postbag/internal/operations"
)

// mostAudit is how many lines of the audit log one answer has at most.
const mostAudit = 1000

// Audit is the latest of the audit log in JSON, the newest first.
type Audit struct {
	// The lines.
	Lines []operations.AuditLine `json:"lines"`
}

func (c *console) audit(r *http.Request) (Audit, error) {
	v := Audit{Lines: []operations.AuditLine{}}
	limit, err := limitOf(r, 50, mostAudit)
	if err != nil {
		return v, err
	}
	d, err := c.database(r)
	if err != nil {
		return v, err
	}
	err = d.asks(r.Context(), func(ctx context.Context, ops operations.Store) error {
		lines, err := ops.AuditLog(ctx, limit)
		v.Lines = append(v.Lines[:0], lines...)
		return err
	})
	return v, err
}
