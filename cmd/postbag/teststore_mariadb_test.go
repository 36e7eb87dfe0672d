package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// sharedMySQL is the server of all tests of its kind. Its user app logs in with the canary.
type sharedMySQL struct {
	oracle bool // MySQL instead of MariaDB
	once   sync.Once
	server *testserver.MySQL
	err    error
	count  atomic.Int64
}

var (
	mariadb = sharedMySQL{}
	mysql   = sharedMySQL{oracle: true}
)

// closeMariaDB ends the servers that a test has started.
func closeMariaDB() error {
	return errors.Join(mariadb.close(), mysql.close())
}

func (s *sharedMySQL) close() error {
	s.once.Do(func() {})
	if s.server == nil {
		return nil
	}
	return s.server.Close()
}

// emptyMariaDB is a database with nothing in it, whose DSN is in a file and holds the canary for a password.
func emptyMariaDB(t *testing.T) *place {
	t.Helper()
	return mariadb.empty(t)
}

// emptyMySQL is the same in MySQL.
func emptyMySQL(t *testing.T) *place {
	t.Helper()
	return mysql.empty(t)
}

func (s *sharedMySQL) empty(t *testing.T) *place {
	t.Helper()
	s.once.Do(func() {
		s.server, s.err = testserver.StartMySQL(context.Background(), testserver.MySQLOptions{Oracle: s.oracle, NoSync: true})
		if s.err == nil {
			s.err = s.asRoot("CREATE USER app@'%' IDENTIFIED BY '" + canary + "'")
		}
	})
	servertest.Need(t, s.err)
	name := fmt.Sprintf("shop%d", s.count.Add(1))
	if err := s.asRoot("CREATE DATABASE "+name, "GRANT ALL ON "+name+".* TO app@'%'"); err != nil {
		t.Fatal(err)
	}
	path := write(t, "dsn", fmt.Sprintf("mysql://app:%s@127.0.0.1:%d/%s\n", canary, s.server.Port(), name))
	if !s.oracle {
		path = write(t, "dsn", fmt.Sprintf("mariadb://app:%s@127.0.0.1:%d/%s\n", canary, s.server.Port(), name))
	}
	return &place{flag: "--store-file", where: path, yaml: `{dsn_file: "` + path + `"}`, folder: filepath.Dir(path), shards: 4}
}

func asRoot(statements ...string) error { return mariadb.asRoot(statements...) }

func (s *sharedMySQL) asRoot(statements ...string) error {
	db, err := sql.Open("mysql", s.server.DSN(""))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			return err
		}
	}
	return nil
}
