package pairs

import (
	"os"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/proof/internal/daemon"
)

func TestMain(m *testing.M) {
	_ = mysql.SetLogger(&mysql.NopLogger{}) // of lost connections there are many here; it fails without a logger only
	code := m.Run()
	daemon.Remove()
	os.Exit(code)
}
