package sourcekit_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

func TestAFailureHasItsTextAndItsClass(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("fetch: %w", &sourcekit.Error{Text: "the broker is away; wait", Class: source.ErrUnavailable})
	if err.Error() != "fetch: the broker is away; wait" || !errors.Is(err, source.ErrUnavailable) || errors.Is(err, source.ErrMisconfigured) {
		t.Errorf("the error is %v", err)
	}
	if f, ok := errors.AsType[*sourcekit.Error](err); !ok || !errors.Is(f.Class, source.ErrUnavailable) {
		t.Errorf("the failure is %+v", f)
	}
}
