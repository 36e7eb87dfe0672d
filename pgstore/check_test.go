package pgstore_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/sitetest"
)

func TestASequenceThatWouldLoseMessagesIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(sitetest.Messages(5, "a")...)
	refused := func(what, words string) {
		t.Helper()
		if _, err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("a sequence %s is checked with %v", what, err)
		}
	}
	s.exec("SELECT setval('postbag.outbox__seq', 4)")
	refused("that was set back below the highest row", "was set back")
	s.exec("SELECT setval('postbag.outbox__seq', 5)")
	if _, err := s.Check(t.Context()); err != nil {
		t.Errorf("a sequence that stands at the highest row is checked with %v", err)
	}
	s.exec("ALTER SEQUENCE postbag.outbox__seq CACHE 10")
	refused("that gives each session numbers of its own", "CACHE 10")
	s.exec("ALTER SEQUENCE postbag.outbox__seq CACHE 1 INCREMENT -1 MINVALUE 1 MAXVALUE 1000")
	refused("that counts down", "INCREMENT -1")
	s.exec("ALTER SEQUENCE postbag.outbox__seq INCREMENT 1 CYCLE")
	refused("that begins again", "CYCLE")
}
