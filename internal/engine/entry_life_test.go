package engine_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/engine"
)

func TestTheAuditNamesAForbiddenStateTransition(t *testing.T) {
	t.Parallel()
	d := oneShard(t, engine.Config{})
	d.audit()
	d.f.Stray()
	if err := d.f.Audit(); err == nil || !strings.Contains(err.Error(), "is drafted, and then onCall") {
		t.Errorf("the audit says %v", err)
	}
}
