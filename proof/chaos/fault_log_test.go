package chaos

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

func TestAnUnreadableRowMustBeShownAsDeadWithTheReason(t *testing.T) {
	t.Parallel()
	err := errors.New("its headers are no object")
	for what, one := range map[string]struct {
		do   func(d *damage, id postbag.ID)
		want string
	}{
		"shown": {func(d *damage, id postbag.ID) {
			d.shown([]store.Item{{Record: store.Record{Message: postbag.Message{ID: id}, Err: err}, Reason: "the row cannot be read: " + err.Error()}})
		}, ""},
		"never shown":       {func(*damage, postbag.ID) {}, "never shown as dead"},
		"gone with the log": {func(d *damage, id postbag.ID) { d.emptied([]postbag.ID{id}) }, ""},
		"shown without an error": {func(d *damage, id postbag.ID) {
			d.shown([]store.Item{{Record: store.Record{Message: postbag.Message{ID: id}}}})
		}, "shown with the error"},
		"sent": {func(d *damage, id postbag.ID) {
			d.emptied([]postbag.ID{id})
			d.arrived(history.ID(id))
		}, "was sent"},
	} {
		var d damage
		id := postbag.NewID()
		d.plant(id).stands = true
		one.do(&d, id)
		if got := strings.Join(d.found(), "; "); (one.want == "") != (got == "") || !strings.Contains(got, one.want) {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func TestOnlyALogThatWasLookedThroughIsTakenForNoticed(t *testing.T) {
	t.Parallel()
	notice := func(ago time.Duration, what string) store.Notice { return store.Notice{Ago: ago, What: what} }
	for name, one := range map[string]struct {
		notices []store.Notice
		want    bool
	}{
		"none":                     {nil, false},
		"looked through since":     {[]store.Notice{notice(time.Second, storekit.Kept(ref, 7)), notice(4*time.Second, "look through outbox again")}, true},
		"looked through before":    {[]store.Notice{notice(6*time.Second, "look through outbox again")}, false},
		"set back since":           {[]store.Notice{notice(4*time.Second, "set back outbox/default")}, true},
		"the ledger differs since": {[]store.Notice{notice(time.Second, storekit.Kept(ref, 7))}, false},
	} {
		if got := lookedThrough(one.notices, 5*time.Second); got != one.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
