package mysqlstore_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/store/mysqlstore"
)

func TestOptionsNameAllTheirFaultsAtOnce(t *testing.T) {
	t.Parallel()
	if err := (mysqlstore.Options{}).Validate(); err != nil {
		t.Errorf("the zero options are refused: %v", err)
	}
	err := mysqlstore.Options{Boxes: []string{"good", "No box"}, Connections: 3, Grace: -1, DDLWait: 1, Partition: -1}.Validate()
	if err == nil {
		t.Fatal("bad options are taken")
	}
	for _, want := range []string{"No box", "Options.Boxes are only made with Options.Create", "Options.Connections is 3", "Options.Grace is -1ns", "Options.DDLWait is 1ns", "Options.Partition is -1ns"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
}
