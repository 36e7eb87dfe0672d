package outagelog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/outagelog"
)

// noon is when tests begin.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// distinct is the nth of reasons that are of as many kinds.
func distinct(n int) string { return "the disk is full under " + strings.Repeat("x", n+1) }

func TestAReasonIsNewsOnceAMinute(t *testing.T) {
	t.Parallel()
	var k outagelog.Kinds
	told := 0
	for s := range 150 {
		if k.News(noon.Add(time.Duration(s)*time.Second), "connection refused") {
			told++
		}
	}
	if told != 3 {
		t.Errorf("in 150 s it is news %d times, want 3", told)
	}
}

func TestAReasonThatDiffersOnlyInWordsWithADigitIsNoNews(t *testing.T) {
	t.Parallel()
	var k outagelog.Kinds
	for n, c := range []struct {
		reason string
		want   bool
	}{
		{"dial 10.0.0.1:5432 from port 40000: refused", true},
		{"dial 10.0.0.22:5432 from port 40001: refused", false},
		{"dial ab12 from port cd34: refused", false},
		{"dial 10.0.0.1:5432  from\nport 40000: refused", false},
		{"dial 10.0.0.1:5432 from port 40000: denied", true},
		{"dial db from port 40000: refused", true},
		{"", false}, // not known
	} {
		if got := k.News(noon, c.reason); got != c.want {
			t.Errorf("%d: %q is news: %v, want %v", n, c.reason, got, c.want)
		}
	}
}

func TestReasonsThatAreAllDifferentDoNotFloodTheLog(t *testing.T) {
	t.Parallel()
	var k outagelog.Kinds
	for _, now := range []time.Time{noon, noon.Add(outagelog.Again)} {
		told := 0
		for n := range 1000 {
			if k.News(now, distinct(n)) {
				told++
			}
		}
		if told != outagelog.MaxKinds {
			t.Errorf("of 1000 reasons %d are news within a minute, want %d", told, outagelog.MaxKinds)
		}
	}
}

func TestAReasonThatIsNotKnownIsNewsIfNothingElseIs(t *testing.T) {
	t.Parallel()
	var k outagelog.Kinds
	got := fmt.Sprint(k.News(noon, ""), k.News(noon, ""), k.News(noon, "refused"), k.News(noon.Add(outagelog.Again), ""))
	if want := "true false true true"; got != want {
		t.Errorf("it is news: %s, want %s", got, want)
	}
}
