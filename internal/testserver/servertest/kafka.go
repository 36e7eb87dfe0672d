package servertest

import (
	"context"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
)

// Kafka starts a Kafka, of one node or three, for one test.
func Kafka(tb testing.TB, opts testserver.KafkaOptions) *testserver.Kafka {
	tb.Helper()
	k, err := testserver.StartKafka(context.Background(), opts)
	Need(tb, err)
	keep(tb, "Kafka", k)
	return k
}
