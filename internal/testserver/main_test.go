package testserver_test

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		if err := victim(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		select {} // until it is killed
	}
	os.Exit(m.Run())
}

// slow marks a test that starts several servers, or one several times.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: it takes seconds, and -short was asked for")
	}
}
