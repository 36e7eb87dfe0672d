package store_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
)

func TestBadNamesOfApplicationsAreRefused(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		strings.Repeat("a", 65): "holds 65 bytes; use at most 64", "a\nb": "control character", "a\x00b": "control character", "\xff": "not valid UTF-8",
	} {
		if err := (store.SQLComments{Application: name}).Validate(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the fault of %q is %v, want one that says %q", name, err, says)
		}
	}
	for _, name := range []string{"", "*/", strings.Repeat("ö", 32)} {
		if err := (store.SQLComments{Application: name}).Validate(); err != nil {
			t.Errorf("the name %q has the fault %v", name, err)
		}
	}
}
