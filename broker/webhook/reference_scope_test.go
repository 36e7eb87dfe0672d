package webhook

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokertest"
)

// Every status has a row, by its number or as "another" of its hundred.
func TestTheErrorTableIsThatOfTheReferencePage(t *testing.T) {
	t.Parallel()
	d := open(t, options("https://receiver.example/hooks"))
	of := func(name string, status int) brokertest.Answer {
		outcome := StatusOutcome(status)
		return brokertest.Answer{Name: name, Outcome: outcome, Scope: d.scope(outcome, status)}
	}
	answers := []brokertest.Answer{of("no status of HTTP", 600)}
	for hundred := 1; hundred <= 5; hundred++ {
		first := hundred * 100
		most := of("another "+strconv.Itoa(hundred)+"xx", first+99)
		answers = append(answers, most)
		for status := first; status < first+100; status++ {
			if a := of(strconv.Itoa(status), status); a.Outcome != most.Outcome || a.Scope != most.Scope {
				answers = append(answers, a)
			}
		}
	}
	for _, status := range []int{0, 99, 600, 999} {
		if a := of("", status); http.StatusText(status) != "" || a.Outcome != broker.Unavailable || a.Scope != broker.ScopeDestination {
			t.Errorf("%d is %v of %v", status, a.Outcome, a.Scope)
		}
	}
	brokertest.AnswersMatchPage(t, "../../docs/reference/webhook.md", answers...)
}
