package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// postgres is the server of all tests. Its role app logs in with the canary.
var postgres = servertest.SharedPostgres{Options: testserver.PostgresOptions{NoSync: true}}

// place is where a store is, and how a command line and a configuration say so.
type place struct {
	// flag and where are one argument of the command line each.
	flag, where string
	// yaml is the value of "store:".
	yaml string
	// folder holds the place; nothing else must appear in it.
	folder string
	// shards is how many a subscription has there in the beginning.
	shards int
}

// onEachStore runs a test on each kind of store, with a box outbox.
func onEachStore(t *testing.T, f func(t *testing.T, at *place)) {
	t.Helper()
	for name, empty := range map[string]func(*testing.T) *place{
		"sqlite": emptyFile, "postgresql": emptyDatabase, "mariadb": emptyMariaDB,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := empty(t)
			cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
			f(t, at)
		})
	}
}

// emptyFile is a sqlite file that does not exist yet.
func emptyFile(t *testing.T) *place {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "shop.db")
	return &place{flag: "--store", where: path, yaml: `{dsn: "` + path + `"}`, folder: folder, shards: 1}
}

// emptyDatabase is a PostgreSQL database with nothing in it, whose DSN is in a file
// and holds the canary for a password.
func emptyDatabase(t *testing.T) *place {
	t.Helper()
	dsn := postgres.Database(t)
	_, name, _ := strings.Cut(strings.TrimPrefix(dsn, "postgres://"), "/")
	name, _, _ = strings.Cut(name, "?")
	server := postgres.Server(t)
	_, err := server.Exec(context.Background(), name, `DO $$ BEGIN CREATE ROLE app LOGIN PASSWORD '`+canary+`';
		EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$; ALTER DATABASE "`+name+`" OWNER TO app`)
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "dsn", server.DSNAs("app", canary, name)+"\n")
	return &place{flag: "--store-file", where: path, yaml: `{dsn_file: "` + path + `"}`, folder: filepath.Dir(path), shards: 4}
}
