package main

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// drop drops the table of a box, as somebody with the owner's rights may.
func drop(t *testing.T, at *place, box string) {
	t.Helper()
	asOwner(t, at, "DROP TABLE postbag_"+box, "DROP TABLE postbag."+box+" CASCADE")
}

// asOwner runs a statement, which is another one on PostgreSQL.
func asOwner(t *testing.T, at *place, statement, onPostgres string) {
	t.Helper()
	switch {
	case at.flag == "--store":
		execute(t, at, statement)
	case strings.HasPrefix(dsnOf(t, at).Scheme, "postgres"):
		execute(t, at, onPostgres)
	default:
		db, err := sql.Open("mysql", mariadb.server.DSN(strings.Trim(dsnOf(t, at).Path, "/")))
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(t.Context(), statement)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// A relay of another box did not open the store any more, and status showed nothing at all.
func TestADroppedTableStopsNoOtherBoxAndCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		publish := func(box string, n int) {
			t.Helper()
			cliWith(t, strings.Repeat(`{"payload":1}`+"\n", n), "publish", at.flag, at.where, "--box", box, "--ndjson").ok()
		}
		drained := func(box string, n int) {
			t.Helper()
			got := cli(t, "relay", at.flag, at.where, "--box", box, "--to", "stdout:", "--drain").ok().out
			if came := strings.Count(got, "\n"); came != n {
				t.Errorf("%d messages of box %s come, want %d", came, box, n)
			}
		}
		cli(t, "migrate", "up", at.flag, at.where, "--box", "second").ok()
		publish("second", 3)
		drained("second", 3)
		publish("second", 2)
		drop(t, at, "second")
		publish("outbox", 4)
		drained("outbox", 4)
		cli(t, "status", at.flag, at.where).ok().says("BOX second: somebody dropped its table", "BOX outbox: 4 messages")
		cli(t, "status", at.flag, at.where, "--check").ends(exit.Unhealthy, "box second: somebody dropped its table")
		cli(t, "publish", at.flag, at.where, "--box", "second", "--payload", "1").ends(exit.NotFound, "no such box")

		cli(t, "migrate", "up", at.flag, at.where, "--box", "second").ok().says("box second")
		publish("second", 5)
		drained("second", 5)
		publish("outbox", 1)
		drained("outbox", 1)
	})
}
