package mysqlstore_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
)

// A search that walked all messages of the state would end with a cursor before it comes there.
func TestTheParkedMessagesOfAKeyAreFoundAmongVeryMany(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, grace(time.Minute))
		wanted := boxtest.Messages(1, "wanted")[0]
		s.publish(wanted)
		for range 41 {
			s.publish(boxtest.Messages(500, "other")...)
		}
		last := boxtest.Messages(1, "wanted")[0]
		s.publish(last)
		s.exec("INSERT INTO postbag__parked (subscription, seq, slot, hash, state, attempts, due, first, reason, history) "+
			"SELECT s.id, l.seq, 0, IF(l.`key` = 'wanted', ?, 7), 4, 1, 0, 1, 'no', '[]' FROM postbag_outbox l, postbag__subscription s WHERE s.name = ?",
			int64(store.KeyHash("wanted")), boxtest.Outbox.Subscription)
		for oldest, want := range map[bool][]postbag.ID{true: {wanted.ID, last.ID}, false: {last.ID, wanted.ID}} {
			items, next, err := s.List(t.Context(), store.Query{Ref: boxtest.Outbox, State: store.StateDead, Key: "wanted", Oldest: oldest})
			if s.Must(err); len(items) != 2 || next != "" || items[0].ID != want[0] || items[1].ID != want[1] {
				t.Errorf("oldest first %v: one page has %d messages of the key, and the cursor %q", oldest, len(items), next)
			}
		}
	})
}
