package mysqlstore_test

import (
	"errors"
	"testing"

	"github.com/postbag/postbag/store"
)

// The server ends a transaction at a deadlock, and takes the next statements as a new one. ROLLBACK leaves a session as that does.
func TestATransactionThatTheServerRolledBackDoesNotKeepItsLane(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		const lane = "billing/postbag/inbox/default/0"
		s := newTestBox(t, k)
		for _, level := range levels {
			tx := s.begin(s.plain, level)
			now, err := s.OpenLane(t.Context(), tx, lane)
			s.Must(err)
			s.Must(tx.Commit())
			tx = s.begin(s.plain, level)
			s.Must(s.WriteLane(t.Context(), tx, lane, now.Epoch, []byte(level.String())))
			s.Must(s.KeepsLane(t.Context(), tx, lane, now.Epoch, []byte(level.String())))
			_, err = tx.ExecContext(t.Context(), "ROLLBACK")
			s.Must(err)
			if err := s.KeepsLane(t.Context(), tx, lane, now.Epoch, []byte(level.String())); !errors.Is(err, store.ErrAgain) || !s.RunAgain(err) {
				t.Errorf("%s: after a rollback of the server: %v, not ErrAgain", level, err)
			}
			s.Must(tx.Rollback())
		}
	})
}
