package sqlitestore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/readbacktest"
	"github.com/postbag/postbag/store/sqlitestore"
)

func BenchmarkReadBack(b *testing.B) {
	readbacktest.Run(b, func(b *testing.B, blank bool) readbacktest.Opened[postbag.SQLTx] {
		b.Helper()
		path := filepath.Join(b.TempDir(), "test.db")
		openAt(b, path, sqlitestore.Options{Create: true})
		var connector driver.Connector = dsnConnector{openDSN(b, sqlitestore.DSN(path)).Driver(), sqlitestore.DSN(path)}
		if blank {
			connector = blanking{connector}
		}
		db := sql.OpenDB(connector)
		b.Cleanup(func() {
			if err := db.Close(); err != nil {
				b.Error(err)
			}
		})
		f, err := openOver(b, db, sqlitestore.Options{})
		if err != nil {
			b.Fatal(err)
		}
		return readbacktest.Opened[postbag.SQLTx]{Store: f.Store, Appender: f.Store}
	})
}

// blanking makes connections whose pages have no headers and no payloads.
type blanking struct{ driver.Connector }

func (c blanking) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &blankingConn{conn.(fullConn)}, nil //nolint:errcheck // it is SQLite's
}

type blankingConn struct{ fullConn }

func (c *blankingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	return c.fullConn.PrepareContext(ctx, strings.Replace(text, "ifnull(headers, ''),\n\tpayload", "'',\n\tx''", 1))
}
