package survival

import (
	"os"
	"testing"

	"github.com/postbag/postbag/proof/internal/daemon"
)

func TestMain(m *testing.M) {
	code := m.Run()
	daemon.Remove()
	os.Exit(code)
}
