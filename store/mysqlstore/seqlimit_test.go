package mysqlstore_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
)

// A session that may insert can choose a seq in spite of its rights: SET insert_id.
func TestAnInsertWithAChosenSeqStopsNoDelivery(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		for _, seq := range []string{"4611686018427387904", "9223372036854775806", "9223372036854775807"} {
			t.Run(seq, func(t *testing.T) {
				t.Parallel()
				s := newTestBox(t, k)
				before, after := boxtest.Messages(3, "a", "b"), boxtest.Messages(2, "a", "c")
				s.publish(before...)
				s.insertAt(seq)
				if seq == "4611686018427387904" {
					s.publish(after...)
				}
				if got := s.Deliver(); len(got) < 4 {
					t.Errorf("%d messages are delivered", len(got))
				}
				if got := s.Deliver(); len(got) != 0 {
					t.Errorf("%d messages are delivered again", len(got))
				}
				if faults := s.Housekeep().Faults; len(faults) != 1 || !strings.Contains(faults[0], "insert_id") {
					t.Errorf("housekeeping reports %q", faults)
				}
			})
		}
	})
}

// The tables of older boxes have unsigned seqs: what stands above those that a position can name is reported, and stops nothing.
func TestARowAboveTheHighestSeqIsReportedAndStopsNoDelivery(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.exec("ALTER TABLE postbag_outbox MODIFY seq BIGINT UNSIGNED NOT NULL AUTO_INCREMENT")
		before := boxtest.Messages(3, "a", "b")
		s.publish(before...)
		s.insertAt("18446744073709551614")
		s.want(s.Deliver(), before...)
		if _, err := s.Store.Overview(t.Context()); err != nil {
			t.Error(err)
		}
		if faults := s.Housekeep().Faults; len(faults) != 1 || !strings.Contains(faults[0], "never delivered") {
			t.Errorf("housekeeping reports %q", faults)
		}
		s.exec("DELETE FROM postbag_outbox WHERE seq > 9223372036854775807")
		s.exec("ALTER TABLE postbag_outbox AUTO_INCREMENT = 1")
		after := boxtest.Messages(2, "a", "c")
		s.publish(after...)
		s.want(s.Deliver(), after...)
	})
}

// insertAt inserts a row whose seq the session has chosen.
func (s *testBox) insertAt(seq string) {
	s.Helper()
	c, err := s.plain.Conn(s.Context())
	s.Must(err)
	defer func() { s.Must(c.Close()) }()
	for _, text := range []string{"SET insert_id = " + seq, "INSERT INTO postbag_outbox (topic, `key`, payload) VALUES ('t', 'h', 'x')"} {
		if _, err := c.ExecContext(s.Context(), text); err != nil {
			s.Fatalf("%v: %s", err, text)
		}
	}
}
