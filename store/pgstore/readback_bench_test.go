package pgstore_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/internal/readbacktest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store/pgstore"
)

// BenchmarkReadBack has commits wait for no disk: that would hide the rest.
func BenchmarkReadBack(b *testing.B) {
	readbacktest.Run(b, func(b *testing.B, blank bool) readbacktest.Opened[pgx.Tx] {
		b.Helper()
		pg := servertest.Postgres(b, testserver.PostgresOptions{NoSync: true})
		config, err := pgxpool.ParseConfig(pg.DSN("postgres"))
		if err != nil {
			b.Fatal(err)
		}
		config.MaxConns = 16
		s, err := pgstore.Open(b.Context(), newPool(b, config), pgstore.Options{Create: true})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := s.Close(); err != nil {
				b.Error(err)
			}
		})
		if blank {
			s.WithoutPayloads()
		}
		return readbacktest.Opened[pgx.Tx]{Store: s, Appender: s, ServerCPU: func() time.Duration { return cpuOf(b, pg.DataDir()) }}
	})
}

// cpuOf is the CPU time of a server's processes, those that ended among them.
func cpuOf(b *testing.B, data string) (all time.Duration) {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		b.Fatal(err)
	}
	pid, _, _ := strings.Cut(string(text), "\n")
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range entries {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		own := path == "/proc/"+pid+"/stat"
		if !own && fields[1] != pid {
			continue
		}
		times := fields[11:13] // its user and system time
		if own {
			times = fields[11:15] // and those of children that ended
		}
		for _, ticks := range times {
			n, err := strconv.ParseInt(ticks, 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			all += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return all
}
