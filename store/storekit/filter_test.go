package storekit_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// A filter that is read without what a later version wrote in it would take too much.
func TestAFilterWithSomethingUnknownIsNotRead(t *testing.T) {
	t.Parallel()
	w := store.Where{Topics: []string{"a"}, Headers: []string{"h=1"}, Except: []store.Match{{Types: []string{"b"}, Headers: []string{"g"}}}}
	text, err := storekit.WhereText(w)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := storekit.ParseWhere(text); err != nil || !reflect.DeepEqual(got, w) {
		t.Errorf("%s is read as %+v: %v", text, got, err)
	}
	for _, text := range []string{`{"topics":["a"],"keys":["k"]}`, `{"except":[{"types":["a"],"sizes":[1]}]}`, `{"topics":["a"]}{}`, `{"topics":["a"]}}`, `{`} {
		if got, err := storekit.ParseWhere(text); err == nil || !strings.Contains(err.Error(), "newer program") || !got.Empty() {
			t.Errorf("%s is read as %+v: %v", text, got, err)
		}
	}
}

func TestTheAuditLogSaysTheWholeFilterOfAReplay(t *testing.T) {
	t.Parallel()
	r := store.Replay{Through: 9, Types: []string{"a"}, Where: store.Where{Topics: []string{"t"}, Except: []store.Match{{Headers: []string{"h=1"}}}}}
	if got := storekit.ReplayText(&r); !strings.Contains(got, ", types a, topics t; except headers h=1") {
		t.Errorf("the audit log says %q", got)
	}
}
