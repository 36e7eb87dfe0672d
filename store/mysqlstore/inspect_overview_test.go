package mysqlstore_test

import (
	"testing"
	"time"

	"github.com/postbag/postbag/internal/boxtest"
)

// A producer that rolled back leaves a seq that stays open for the grace. Behind it all is counted as it is: what was
// delivered is no backlog, however much it is.
func TestMessagesDeliveredBehindAnOpenSeqAreNotBacklog(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k, grace(time.Minute))
		tx, err := s.plain.BeginTx(t.Context(), nil)
		s.Must(err)
		s.Must(s.Append(t.Context(), tx, "outbox", boxtest.Messages(1, "late")))
		for range 7 {
			s.publish(boxtest.Messages(1000, "a")...)
		}
		s.Deliver()
		s.publish(boxtest.Messages(30, "b")...)

		o, err := s.Overview(t.Context())
		s.Must(err)
		if v := o.Boxes[0].Subscriptions[0]; v.Delivered != 7000 || v.Backlog > 60 {
			s.Errorf("%d messages are delivered, and the backlog is %d where 30 were not read", v.Delivered, v.Backlog)
		}
		s.Must(tx.Rollback())
	})
}
