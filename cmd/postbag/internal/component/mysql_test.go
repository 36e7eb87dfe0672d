package component

import (
	"os"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

func TestDSNsOfMySQLAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"mysql://app:s3cret@db/shop":                   "app:s3cret@tcp(db:3306)/shop",
		"mariadb://app@db:3307/shop":                   "app@tcp(db:3307)/shop",
		"mysql://db/shop?tls=true":                     "tcp(db:3306)/shop?tls=true",
		"MySQL://a%40b:p%2Fq@[::1]:3306/shop/":         "a@b:p/q@tcp([::1]:3306)/shop",
		"app:secret@tcp(db:3306)/shop?readTimeout=5s":  "app:secret@tcp(db:3306)/shop?readTimeout=5s",
		"app:a://b@unix(/run/mysqld/mysqld.sock)/shop": "app:a://b@unix(/run/mysqld/mysqld.sock)/shop",
	} {
		got, err := driverDSN(dsn)
		if err != nil || strings.TrimSuffix(got, "?") != want {
			t.Errorf("%s is %q (%v), want %q", dsn, got, err, want)
		}
		if kind, mistake := Kinds().StoreKind("", dsn); mistake != "" || kind != "mysql" && kind != "mariadb" {
			t.Errorf("%s is of kind %q (%s)", dsn, kind, mistake)
		}
	}
	for _, dsn := range []string{"mysql://", "mysql://app:CANARY@db", "mysql://app:CANARY@db/", "mysql://app:CANARY@ho st/shop", "mysql://db/a/b"} {
		if got, err := driverDSN(dsn); err == nil || strings.Contains(err.Error(), "CANARY") || !strings.Contains(err.Error(), "write it as") {
			t.Errorf("%s is %q (%v)", dsn, got, err)
		}
	}
}

// A DSN with a slip in it may hold a password, which must not become the name of a file.
func TestAMistypedDSNIsNotTakenForAFilePath(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dsn := range []string{
		"app:CANARY@tcp(db:3306)", "app:CANARY@tcp(db:3306)/a/b", "app:CANARY@db/shop", "app:CANARY@/shop", "app@tcp(db)/CANARY/x", "mysql:/app:CANARY@db/shop",
		"postgres:/app:CANARY@db/shop", "app:CANARY", "CANARY", "host:db password:CANARY.db", "tcp(db:3306)", "passwort=CANARY", "CANARY\n.db",
	} {
		for _, kind := range []string{"", "sqlite"} {
			s, err := OpenStore(t.Context(), config.Store{Kind: kind, DSN: dsn, Create: true}, StoreOptions{Boxes: []string{"outbox"}})
			if err == nil {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				if kind == "" || dsn != "CANARY" {
					t.Errorf("%q (kind %q) was opened as a file", dsn, kind)
				}
				continue
			}
			if strings.Contains(err.Error(), "CANARY") {
				t.Errorf("%q (kind %q) is shown: %v", dsn, kind, err)
			}
		}
	}
	made, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range made {
		if !strings.HasPrefix(file.Name(), "CANARY") {
			t.Errorf("a file %q was made", file.Name())
		}
	}
	for _, dsn := range []string{"shop.db", "./shop", "../data/shop.sqlite3", "/var/lib/shop", `C:\data\shop.db`, "data/shop", "SHOP.DB", "./a:b.db"} {
		if kind, mistake := Kinds().StoreKind("", dsn); kind != "sqlite" {
			t.Errorf("the path %q is of kind %q: it %s", dsn, kind, mistake)
		}
	}
}

func TestAServerThatDoesNotAnswerIsNamed(t *testing.T) {
	t.Parallel()
	for kind, dsn := range map[string]string{"postgresql": "postgres://app:CANARY@127.0.0.1:1/shop?connect_timeout=5", "mysql": "mysql://app:CANARY@127.0.0.1:1/shop"} {
		_, err := OpenStore(t.Context(), config.Store{DSN: dsn}, StoreOptions{})
		if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
