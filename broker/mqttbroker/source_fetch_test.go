package mqttbroker

import (
	"errors"
	"testing"
	"time"

	"github.com/postbag/postbag/source"
)

// A broker that starts again can have lost the session, and keep the new one for less.
func TestTheNextFetchSaysAllThatWasReported(t *testing.T) {
	t.Parallel()
	s := &Source{wake: make(chan struct{}, 1)}
	lost, short := s.lostSession(), s.shortSession(time.Second)
	s.report(lost)
	s.report(short)
	_, _, err := s.take(source.Limits{})
	if !errors.Is(err, lost) || !errors.Is(err, short) || !errors.Is(err, source.ErrUnavailable) {
		t.Errorf("the first Fetch says %v", err)
	}
	if _, _, err := s.take(source.Limits{}); err != nil {
		t.Errorf("the next Fetch says %v again", err)
	}
}
