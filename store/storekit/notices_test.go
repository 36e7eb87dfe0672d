package storekit_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

func TestNoticesOfTheStoreAreShownUntilAccepted(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	entry := func(ago time.Duration, who, what string) store.AuditEntry {
		return store.AuditEntry{At: now.Add(-ago), Audit: store.Audit{Who: who, Why: "because"}, What: what}
	}
	got := storekit.Notices([]store.AuditEntry{ // newest first
		entry(-time.Second, storekit.Itself, "set back a/default"),
		entry(time.Minute, "Ada", storekit.Acknowledged("b")),
		entry(time.Minute, "Ada", "look through c again"),
		entry(time.Hour, storekit.Itself, "look through b again"),
		entry(2*time.Hour, storekit.Itself, "look through bb again"),
		entry(3*time.Hour, storekit.Itself, "send d again, from where it was"),
		entry(4*time.Hour, storekit.Itself, "something else"),
		entry(5*time.Hour, storekit.Itself, storekit.Kept(store.Ref{Box: "f", Subscription: "s"}, 1)),
		entry(25*time.Hour, storekit.Itself, "look through e again"),
	}, now)
	if len(got) != 4 || len(got["f"]) != 1 || len(got["a"]) != 1 || len(got["bb"]) != 1 || len(got["d"]) != 1 {
		t.Fatalf("the notices are %+v", got)
	}
	if n := got["a"][0]; n != (store.Notice{What: "set back a/default", Why: "because"}) {
		t.Errorf("one of the near future is %+v", n)
	}
	if n := got["d"][0]; n.Ago != 3*time.Hour {
		t.Errorf("it was %v ago", n.Ago)
	}
}
