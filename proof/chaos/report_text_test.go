package chaos_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/proof/history"
)

// told is the text of a report on a message that was committed, and arrived or not.
func told(t *testing.T, arrived bool, failures ...string) string {
	t.Helper()
	h := &history.History{}
	h.Intend(history.Intent{Tx: 1, ID: history.Name("a"), Key: "k", Begin: 1, End: 1})
	h.End(history.Outcome{Tx: 1, Fate: history.Committed, Begin: 2, End: 2})
	if arrived {
		h.Deliver(history.Delivery{ID: history.Name("a"), Key: "k", From: 3, To: 3})
	}
	r := &chaos.Report{
		Pair: "a-b", Versions: []string{"A", "B"}, For: time.Minute, Load: chaos.Load{Relays: 2, Producers: 1}, History: h.Check(history.Options{}), Failures: failures,
		Counts: map[string]int{"stop": 1}, Idle: map[string]int{"stop": 2, "cut": 3},
		Faults: []chaos.Strikes{{Fault: "stop", Room: chaos.Brokers, At: time.Second, For: 2 * time.Second, Notes: []string{"once"}}},
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAReportBeginsWithTheResultOfEachPromise(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		text string
		want []string // in this order
	}{
		{told(t, true), []string{
			"promises: 6 held, 8 not put to the test\n", "load: 2 relays, 1 producer,", "     1     1.00s    2.00s  broker                stop (once)\n",
			"     1      2  stop\n     0      3  cut\n\n",
			"lost         held; judged 1 committed messages, delivered 1\n", "order        not put to the test\n",
		}},
		{told(t, false, "a relay fell"), []string{"promises: 1 BROKEN (lost), ", "WRONG: a relay fell\n", "load: ", "lost         BROKEN 1 times"}},
	} {
		rest := one.text
		for _, want := range one.want {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%q is not where it should be:\n%s", want, one.text)
				break
			}
			rest = after
		}
	}
}
