package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// mariadb is the server of all tests. Its user app logs in with the canary.
var mariadb struct {
	once   sync.Once
	server *testserver.MySQL
	err    error
	count  atomic.Int64
}

// closeMariaDB ends the server, if a test has started it.
func closeMariaDB() error {
	mariadb.once.Do(func() {})
	if mariadb.server == nil {
		return nil
	}
	return mariadb.server.Close()
}

// emptyMariaDB is a database with nothing in it, whose DSN is in a file and holds the canary for a password.
func emptyMariaDB(t *testing.T) *place {
	t.Helper()
	mariadb.once.Do(func() {
		mariadb.server, mariadb.err = testserver.StartMySQL(context.Background(), testserver.MySQLOptions{NoSync: true})
		if mariadb.err == nil {
			mariadb.err = asRoot("CREATE USER app@'%' IDENTIFIED BY '" + canary + "'")
		}
	})
	servertest.Need(t, mariadb.err)
	name := fmt.Sprintf("shop%d", mariadb.count.Add(1))
	if err := asRoot("CREATE DATABASE "+name, "GRANT ALL ON "+name+".* TO app@'%'"); err != nil {
		t.Fatal(err)
	}
	path := write(t, "dsn", fmt.Sprintf("mariadb://app:%s@127.0.0.1:%d/%s\n", canary, mariadb.server.Port(), name))
	return &place{flag: "--store-file", where: path, yaml: `{dsn_file: "` + path + `"}`, folder: filepath.Dir(path), shards: 4}
}

func asRoot(statements ...string) error {
	db, err := sql.Open("mysql", mariadb.server.DSN(""))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, s := range statements {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			return err
		}
	}
	return nil
}
