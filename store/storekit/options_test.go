package storekit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/store/storekit"
)

func TestAStoreMakesTheBoxesThatItsOptionsName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		create      bool
		named, want []string
	}{
		{true, nil, []string{"outbox"}},
		{true, []string{}, nil},
		{true, []string{"a", "b"}, []string{"a", "b"}},
		{false, nil, nil},
	} {
		if got := storekit.Boxes(c.create, c.named); !slices.Equal(got, c.want) {
			t.Errorf("Create %v and Boxes %v make %v, want %v", c.create, c.named, got, c.want)
		}
	}
}

func TestBadBoxesAreNamedAllAtOnce(t *testing.T) {
	t.Parallel()
	if faults := storekit.BadBoxes("astore", true, []string{"good"}); len(faults) != 0 {
		t.Errorf("good options have the faults %v", faults)
	}
	faults := errors.Join(storekit.BadBoxes("astore", false, []string{"No box", "good", ""})...)
	for _, want := range []string{"No box", "box name is empty", "astore: Options.Boxes are only made with Options.Create"} {
		if faults == nil || !strings.Contains(faults.Error(), want) {
			t.Errorf("the faults do not say %q: %v", want, faults)
		}
	}
}
