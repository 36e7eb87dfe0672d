package pgstore_test

import (
	"strings"
	"testing"
)

// The owner of the tables is not held back by column grants, and an object mapper
// may write every column.
func TestAnInvalidSlotIsRefused(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	for _, table := range []string{"outbox (place", "outbox__scheduled (due, place"} {
		due := ""
		if strings.Contains(table, "due") {
			due = "now() + interval '1 hour', "
		}
		for _, place := range []string{"-1", "4097", "32767"} {
			if _, err := s.plain.Exec(t.Context(), "INSERT INTO postbag."+table+") VALUES ("+due+place+")"); err == nil {
				t.Errorf("a row of %s) with the place %s was taken", table, place)
			}
		}
		for _, place := range []string{"NULL", "0", "1", "4096"} {
			if _, err := s.plain.Exec(t.Context(), "INSERT INTO postbag."+table+") VALUES ("+due+place+")"); err != nil {
				t.Errorf("a row of %s) with the place %s was refused: %v", table, place, err)
			}
		}
	}
}
