package pgstore_test

import (
	"os"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// settings fit many databases with many sessions on one small server.
var settings = map[string]string{"max_connections": "400", "max_locks_per_transaction": "256", "max_wal_size": "2GB"}

// shared is the server of all tests that do it no harm.
var shared = servertest.SharedPostgres{Options: testserver.PostgresOptions{NoSync: true, Settings: settings}}

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }
