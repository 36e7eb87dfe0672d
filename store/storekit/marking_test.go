package storekit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

func TestMarksOfOneIDAreOneMark(t *testing.T) {
	t.Parallel()
	x, y := store.Sum{1}, store.Sum{2}
	m, err := storekit.NewMarking("billing", []store.Mark{{ID: "b"}, {ID: "a", Sum: x}, {ID: "b", Sum: y}, {ID: "c"}, {ID: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []store.Mark{{ID: "a", Sum: x}, {ID: "b"}, {ID: "c"}}; !slices.Equal(m.Marks, want) {
		t.Errorf("the marks are %v, want %v", m.Marks, want)
	}
	for i, want := range []bool{true, true, false} {
		if m.Compares(i) != want {
			t.Errorf("%s is compared: %v, want %v", m.Marks[i].ID, !want, want)
		}
	}
	if err := errors.Join(m.Repeated(0, nil), m.Repeated(0, x[:]), m.Repeated(1, y[:]), m.Repeated(2, x[:])); err != nil {
		t.Errorf("equal sums and missing ones: %v", err)
	}
	// The second mark of b has the sum, and counts as the first would.
	if err := m.Repeated(1, x[:]); !errors.Is(err, store.ErrOtherBytes) || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("another sum of b: %v", err)
	}
	i, found := m.Find([]byte("b"))
	if !found || i != 1 {
		t.Errorf("b is at %d (%v)", i, found)
	}
	m.Fresh(i)
	if !m.IsFresh(1) || m.IsFresh(0) || m.Compares(1) {
		t.Error("a mark that is fresh is compared")
	}
	if want := []bool{true, false, false, false, false}; !slices.Equal(m.Answer(), want) {
		t.Errorf("the answer is %v, want %v", m.Answer(), want)
	}
}

func TestMarksThatNoStoreTakesAreRefused(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		consumer string
		marks    []store.Mark
	}{
		"the name of the consumer has 0 bytes":        {"", []store.Mark{{ID: "a"}}},
		"the name of the consumer has 101 bytes":      {strings.Repeat("c", 101), nil},
		"the id of message 2 of 2 has 0 bytes":        {"c", []store.Mark{{ID: "a"}, {}}},
		"the id of message 1 of 1 has 256 bytes":      {"c", []store.Mark{{ID: store.MessageID(strings.Repeat("a", 256))}}},
		"10001 messages are marked in one call":       {"c", make([]store.Mark, store.MaxMarks+1)},
		`message "a": ` + store.ErrOtherBytes.Error(): {"c", []store.Mark{{ID: "a", Sum: store.Sum{1}}, {ID: "a", Sum: store.Sum{2}}}},
	} {
		if m, err := storekit.NewMarking(c.consumer, c.marks); err == nil || m != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
