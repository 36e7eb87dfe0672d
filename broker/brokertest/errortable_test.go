package brokertest

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
)

func TestAPageThatDiffersFromAnErrorTableIsFound(t *testing.T) {
	t.Parallel()
	answers := []Answer{
		{Name: "TOO_LARGE", Outcome: broker.Rejected},
		{Name: "NO_TOPIC", Outcome: broker.Misconfigured, Scope: broker.ScopeTopic},
		{Name: "AWAY", Outcome: broker.Unavailable},
	}
	const head = "| outcome | scope | answers |\n|---|---|---|\n"
	const good = head + "| rejected | message | `TOO_LARGE` |\n| misconfigured | topic | `NO_TOPIC` |\n| unavailable | destination | `AWAY` |\n"
	for page, want := range map[string]string{
		good: "",
		good + "\n| what | outcome | scope |\n|---|---|---|\n| stored | accepted | - |\n":           "",
		strings.Replace(good, "`AWAY`", "", 1):                                                      "AWAY is missing",
		strings.Replace(good, "`AWAY`", "`AWAY`, `GONE`", 1):                                        "GONE is in no table of the code",
		strings.Replace(good, "`AWAY`", "`AWAY`, `AWAY`", 1):                                        "AWAY is there twice",
		strings.Replace(good, "| topic |", "| destination |", 1):                                    `NO_TOPIC is in the row "misconfigured, destination"; the code says "misconfigured, topic"`,
		strings.Replace(good, "unavailable", "misconfigured", 1):                                    "AWAY is in the row",
		strings.Replace(good, "| message |", "| topic |", 1):                                        "does not fit",
		good + "\n| what | outcome |\n|---|---|\n| full | unavailable |\n":                          `the scope of the row "full" is ""`,
		good + "\n| what | outcome | scope |\n|---|---|---|\n| full | unavailable | message |\n":    "does not fit",
		good + "\n| what | outcome | scope |\n|---|---|---|\n| stored | accepted | destination |\n": "does not fit",
	} {
		got := strings.Join(compareAnswers(page, answers), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("the page\n%s\nhas the faults %q, want %q", page, got, want)
		}
	}
}
