package component

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// What is wrong with a DSN is said; what stands in it is not.
func TestAMalformedDSNSaysWhatIsWrong(t *testing.T) { //nolint:paralleltest // it sets the environment
	const encode = "write it in percent-encoding: @ as %40"
	for dsn, want := range map[string]string{
		"postgres://app:p@CANARY@h/shop":                       encode,
		"postgres://app:p%zCANARY@h/shop":                      encode,
		"postgres://app:p CANARY@h/shop":                       encode,
		"postgres://app:CANARY@h:port/shop":                    "its port is no number between 1 and 65535",
		"postgres://app:CANARY@h:5432,i:99999/shop":            "its port is no number between 1 and 65535",
		"host=h password='CANARY":                              "a quotation mark is not closed",
		"host=h password=CANARY CANARY":                        "it is not made of keyword=value pairs",
		"host=h port=x password=CANARY":                        "its port is no number between 1 and 65535",
		"mysql://app:p@CANARY@h/shop":                          encode,
		"mysql://app:p/CANARY@h/shop":                          encode,
		"mysql://app:p#CANARY@h/shop":                          encode,
		"mariadb://app:p%zCANARY@h/shop":                       encode,
		"mariadb://app:CANARY@h:99999/shop":                    "its port is no number between 1 and 65535",
		"mysql://app:CANARY@/shop":                             "it names no host",
		"mysql://app:CANARY@h /shop":                           "its host holds a space",
		"mysql://app:CANARY@h":                                 "it names no database",
		"mysql://app:CANARY@h/a/b":                             "more than the name of a database",
		"mysql://app:CANARY@h/shop?parseTime=CANARY":           "its parameter parseTime takes no such value",
		"mariadb://app:CANARY@h/shop?timeout=CANARY":           "its parameter timeout takes no such value",
		"mysql://app:CANARY@h/shop?tls=CANARY":                 "its parameter tls takes no such value",
		"mysql://app:CANARY@h/shop?x=%zzCANARY":                "the value of a parameter is not percent-encoded",
		"app:CANARY@tcp(h:99999)/shop":                         "its port is no number between 1 and 65535",
		"app:CANARY@tcp(h:3306)/":                              "it names no database",
		"app:CANARY@tcp(h:3306)/shop?multiStatements=CANARY&x": "its parameter multiStatements takes no such value",
	} {
		t.Setenv("POSTBAG_TEST_DSN", dsn)
		_, err := OpenStore(t.Context(), config.Store{DSNEnv: "POSTBAG_TEST_DSN"}, StoreOptions{})
		if err == nil || exit.Of(err) != exit.Usage || !strings.HasPrefix(err.Error(), "--store-env POSTBAG_TEST_DSN: ") ||
			!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "; write it as") || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v\nwant one that says %s", dsn, err, want)
		}
	}
	for _, good := range []string{"postgres:///shop?user=a@b", "postgres://h/shop?user=a@b", "postgres://a%40b:c%23d@[::1]:5432,h:1/shop", "postgres://h"} {
		if fault := urlFault(good); fault != "" {
			t.Errorf("%s: %s", good, fault)
		}
	}
}

// A DSN without a host means a socket of this machine, which few have in mind.
func TestTheErrorOfADSNWithoutAHostNamesTheSocket(t *testing.T) {
	dir := t.TempDir()
	open := func(dsn string) string {
		_, err := OpenStore(t.Context(), config.Store{DSN: dsn}, StoreOptions{})
		if err == nil {
			t.Fatalf("%s: a server answered", dsn)
		}
		return err.Error()
	}
	t.Setenv("PGPORT", "1")
	for _, dsn := range []string{"postgres:///shop?user=app", "dbname=shop user=app"} {
		t.Setenv("PGHOST", dir)
		want := "server at the socket " + filepath.Join(dir, ".s.PGSQL.1") + ", which is that of PGHOST, since the DSN names no host"
		if text := open(dsn); !strings.Contains(text, want) {
			t.Errorf("%s: %s\nwant one that says %s", dsn, text, want)
		}
		t.Setenv("PGHOST", "")
		if text := open(dsn); !strings.Contains(text, ", which is the default, since the DSN names no host: ") || strings.Contains(text, "]:1") {
			t.Errorf("%s: %s", dsn, text)
		}
	}
	for _, dsn := range []string{"postgres://app@127.0.0.1/shop", "host=127.0.0.1 dbname=shop", "postgres:///shop?host=127.0.0.1"} {
		if text := open(dsn); strings.Contains(text, "names no host") || !strings.Contains(text, "server 127.0.0.1:1: ") {
			t.Errorf("%s: %s", dsn, text)
		}
	}
}

func TestADSNWithAPasswordIsNotTakenForAFilePath(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dsn := range []string{
		"sqlite:CANARY@x", "file:CANARY@x", "sqlite:app:CANARY", "sqlite:app:CANARY@h/shop", "sqlite:app:CANARY@tcp(h:3306)/shop", "sqlite:postgres://app:CANARY@h/shop",
		"sqlite:app:CANARY@shop.db", "sqlite:host=h password=CANARY", "sqlite://app:CANARY@h/shop.db",
	} {
		s, err := OpenStore(t.Context(), config.Store{DSN: dsn, Create: true}, StoreOptions{})
		if err == nil {
			t.Errorf("%s was opened: %v", dsn, s.Close())
		} else if strings.Contains(err.Error(), "CANARY") || exit.Of(err) != exit.Usage || !strings.Contains(err.Error(), "looks like no path") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	if made, err := filepath.Glob("*"); err != nil || len(made) > 0 {
		t.Errorf("files %q were made (%v)", made, err)
	}
	for _, path := range []string{"sqlite:./a@b", "sqlite:a@b.db", "sqlite:shop", "sqlite:data/shop"} {
		if p := sqlitePath(path); config.Confided(p) {
			t.Errorf("%s is refused", path)
		}
	}
}

// The error of a store begins with what named it.
func TestErrorsOfAStoreNameTheSettingOfItsDSN(t *testing.T) {
	const there = "destinations: {m: {stdout: {}}}\n"
	t.Setenv("POSTBAG_TEST_DSN", "mysql://app:CANARY@127.0.0.1:1/shop")
	for text, want := range map[string]string{
		"store: {dsn: no-such.db}\n" + there:                      "store.dsn: there is no file no-such.db",
		"store: {dsn_env: POSTBAG_TEST_DSN}\n" + there:            "store.dsn_env POSTBAG_TEST_DSN: the store cannot be opened: ",
		"store: {dsn_file: no-such-file}\n" + there:               "store.dsn_file no-such-file: no-such-file cannot be read",
		"stores: {main: {dsn_env: POSTBAG_TEST_DSN}}\n" + there:   "stores.main.dsn_env POSTBAG_TEST_DSN: the store cannot be opened: ",
		"stores: {main: {dsn_env: POSTBAG_TEST_UNSET}}\n" + there: "stores.main.dsn_env POSTBAG_TEST_UNSET: the environment variable",
	} {
		file, err := config.Parse("f.yaml", []byte(text), Kinds())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range file.AllStores() {
			if _, err := OpenStore(t.Context(), s, StoreOptions{}); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v\nwant one that begins with %s", text, err, want)
			}
		}
	}
	for want, s := range map[string]config.Store{
		"--store: there is no file no-such.db":                         {DSN: "no-such.db"},
		"--store-env POSTBAG_TEST_DSN: the store cannot be opened: ":   {DSNEnv: "POSTBAG_TEST_DSN"},
		"--store-file no-such-file: no-such-file cannot be read":       {DSNFile: "no-such-file"},
		"--store-env: what should name an environment variable is no ": {DSNEnv: "postgres://app:CANARY@h"},
		"--store-file: ": {DSNFile: "postgres://app:CANARY@h"},
	} {
		if _, err := OpenStore(t.Context(), s, StoreOptions{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v\nwant one that begins with %s", err, want)
		}
	}
}
