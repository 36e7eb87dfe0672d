package mysqlstore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/store/mysqlstore"
)

func TestAStoreWhoseSessionsAreBrokenIsClosedWithoutAnError(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		dsn := k.database(t)
		address := fmt.Sprintf("127.0.0.1:%d", k.server(t).Port())
		proxy, err := testserver.StartProxy(address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = proxy.Close() }() // what it held is cut
		s, err := mysqlstore.Open(t.Context(), strings.Replace(dsn, address, proxy.Addr(), 1), mysqlstore.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Overview(t.Context()); err != nil {
			t.Fatal(err)
		}
		if proxy.Connections() == 0 {
			t.Fatal("the store has no session that could be broken")
		}
		proxy.Cut()
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
}
