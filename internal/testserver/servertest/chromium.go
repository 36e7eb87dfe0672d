package servertest

import (
	"context"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
)

// Chromium starts a browser for one test.
func Chromium(tb testing.TB) *testserver.Chromium {
	tb.Helper()
	c, err := testserver.StartChromium(context.Background())
	Need(tb, err)
	keep(tb, "Chromium", c)
	return c
}
