package pgstore_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/store/pgstore"
)

func TestOptionsNameAllTheirFaultsAtOnce(t *testing.T) {
	t.Parallel()
	if err := (pgstore.Options{}).Validate(); err != nil {
		t.Errorf("the zero options are refused: %v", err)
	}
	err := pgstore.Options{Boxes: []string{"good", "No box"}, Notify: -1, ListenConfig: new(pgx.ConnConfig)}.Validate()
	if err == nil {
		t.Fatal("bad options are taken")
	}
	for _, want := range []string{"No box", "Options.Boxes are only made with Options.Create", "Options.Notify is -1ns", "Options.ListenConfig is only used with Options.Listen"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
}
