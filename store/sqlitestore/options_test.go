package sqlitestore_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/store/sqlitestore"
)

func TestOptionsNameAllTheirFaultsAtOnce(t *testing.T) {
	t.Parallel()
	if err := (sqlitestore.Options{}).Validate(); err != nil {
		t.Errorf("the zero options are refused: %v", err)
	}
	err := sqlitestore.Options{Boxes: []string{"good", "No box"}, BusyTimeout: -1, LargeWAL: -1}.Validate()
	if err == nil {
		t.Fatal("bad options are taken")
	}
	for _, want := range []string{"No box", "Options.Boxes are only made with Options.Create", "Options.BusyTimeout is -1ns", "Options.LargeWAL is -1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
}
