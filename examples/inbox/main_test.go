package main

import (
	"bytes"
	"testing"
)

func TestEachOrderHasOneInvoice(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), t.TempDir(), &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "100 orders have 100 invoices, of 14950 cents in all\n" {
		t.Errorf("it says %q", got)
	}
}
