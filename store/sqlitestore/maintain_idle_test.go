package sqlitestore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

func TestARoundOfHousekeepingWithNothingToDoMakesFewStatements(t *testing.T) {
	t.Parallel()
	f, _, seen := newTraced(t, sqlitestore.Options{})
	f.declare(store.Spec{Ref: outbox})
	u := f.upkeep()
	idle := func(what string, most int) {
		t.Helper()
		for range 5 { // it may have noted something to be done
			u.maintain(time.Hour)
		}
		seen.takeRuns()
		r := u.maintain(time.Hour)
		if ran := seen.takeRuns(); len(ran) == 0 || len(ran) > most || r.More || len(r.Faults) > 0 {
			t.Errorf("%s: a round with nothing to do makes %d statements, want %d at most: %+v\n%s", what, len(ran), most, r, strings.Join(ran, "\n--\n"))
		}
	}
	idle("an empty box", 9)
	lease := f.lease(outbox)
	f.publish(messages(20, "k")...)
	idle("a box that nobody has read", 9)
	f.deliver(&lease, f.read("", 20))
	idle("a box that was delivered", 9)
}
