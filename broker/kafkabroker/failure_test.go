package kafkabroker

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/postbag/postbag/broker/brokertest"
)

func TestTheErrorTableIsThatOfTheReferencePage(t *testing.T) {
	t.Parallel()
	var answers []brokertest.Answer
	for _, v := range verdicts {
		for _, code := range v.codes {
			f := translateError(fmt.Errorf("produce: %w", code))
			answers = append(answers, brokertest.Answer{Name: code.Message, Outcome: f.Outcome, Scope: f.Scope})
		}
	}
	for name, e := range map[string]*kerr.Error{
		"a code to come": {Message: "NEW", Code: 30000}, "a code to come that can be retried": {Message: "NEW", Code: 30001, Retriable: true},
	} {
		f := translateError(e)
		answers = append(answers, brokertest.Answer{Name: name, Outcome: f.Outcome, Scope: f.Scope})
	}
	brokertest.AnswersMatchPage(t, "../../docs/reference/kafka.md", answers...)
}
