package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// A relay that listens is woken by a notification: it opens a connection of its
// own for that.
func TestRelayListensWhenAsked(t *testing.T) {
	t.Parallel()
	at := emptyDatabase(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	pool, err := pgxpool.New(t.Context(), dsnOf(t, at).String())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	listeners := func() (n int) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		err := pool.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%'`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for listen, want := range map[string]int{"true": 1, "false": 0} {
		yaml := strings.TrimSuffix(at.yaml, "}") + ", listen: " + listen + "}"
		relay := start(t, "relay", "-c", write(t, "postbag.yaml", "store: "+yaml+"\ndestinations: {out: {stdout: {}}}\n"))
		await(t, "the relay works", func() bool {
			return strings.Contains(cli(t, "status", at.flag, at.where).ok().out, "1 relay")
		})
		if want > 0 {
			await(t, "it listens", func() bool { return listeners() == want })
		} else if n := listeners(); n != 0 {
			t.Errorf("%d connections listen", n)
		}
		if code := relay.end(); code != exit.OK {
			t.Errorf("the relay ended with %d", code)
		}
	}
}
