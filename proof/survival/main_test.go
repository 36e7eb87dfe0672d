package survival

import (
	"fmt"
	"os"
	"testing"

	"github.com/postbag/postbag/proof/internal/daemon"
)

func TestMain(m *testing.M) {
	if settings := os.Getenv(consumerEnv); settings != "" {
		fmt.Fprintln(os.Stderr, "the consumer ended:", consume(settings))
		os.Exit(1)
	}
	code := m.Run()
	daemon.Remove()
	os.Exit(code)
}
