package watermillbroker

import (
	"testing"

	"github.com/postbag/postbag/broker/brokertest"
)

// Publishers have no codes: the page says the scope of each row, and names no answer.
func TestTheErrorTableOfTheReferencePageSaysTheScope(t *testing.T) {
	t.Parallel()
	brokertest.AnswersMatchPage(t, "../../docs/reference/watermill.md")
}
