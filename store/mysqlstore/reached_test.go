package mysqlstore

import (
	"context"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// What leads to the replicas, such as a proxy, can send new sessions to another one.
func TestAReaderForgetsHowFarAnotherReplicaWas(t *testing.T) {
	t.Parallel()
	s := &Store{reading: &storekit.Reached{}}
	on := func(v serverState) {
		t.Helper()
		if err := s.accept(&v); err != nil {
			t.Fatal(err)
		}
	}
	reach := func() {
		t.Helper()
		all := func(_ context.Context, marks []store.Watermark) (int, error) { return len(marks), nil }
		if _, err := s.reading.Ask(t.Context(), store.Watermark{Database: "one", At: time.Now().Add(-time.Second)}, all); err != nil {
			t.Fatal(err)
		}
	}
	known := func(want bool, when string) {
		t.Helper()
		if got := s.behind() > 0; got != want {
			t.Errorf("%s: it is known how far the replica is behind: %v", when, got)
		}
	}
	first := serverState{identity: "one", host: "first", life: 7, readOnly: true}
	second := serverState{identity: "one", host: "second", life: 7, readOnly: true}
	on(first)
	reach()
	on(first)
	known(true, "on the same one")
	on(second)
	known(false, "on another one")
	reach()
	second.life = 8
	on(second)
	known(false, "after a restart")
}
