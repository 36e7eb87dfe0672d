package main

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestGrantsPrintedAreEnoughToPublishAndNotToRead(t *testing.T) {
	t.Parallel()
	at := emptyDatabase(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	role := "Grant " + strings.ToLower(t.Name())[:8] // needs quotes
	dsn := strings.Trim(dsnOf(t, at).Path, "/")
	conn, err := pgx.Connect(t.Context(), postgres.Server(t).DSN(dsn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	if _, err := conn.Exec(t.Context(), `CREATE ROLE "`+role+`"`); err != nil {
		t.Fatal(err)
	}
	execute(t, at, cli(t, "grants", role, "--for", "producer", "--box", "outbox").ok().out)
	if _, err := conn.Exec(t.Context(), `SET ROLE "`+role+`"; INSERT INTO postbag.outbox (topic, payload) VALUES ('a', 'x')`); err != nil {
		t.Errorf("the role cannot publish: %v", err)
	}
	if _, err := conn.Exec(t.Context(), `SELECT payload FROM postbag.outbox`); err == nil {
		t.Error("a producer reads messages")
	}
	if _, err := conn.Exec(t.Context(), `RESET ROLE`); err != nil {
		t.Fatal(err)
	}
	execute(t, at, cli(t, "grants", role, "--for", "relay").ok().out)
	if _, err := conn.Exec(t.Context(), `SET ROLE "`+role+`"; SELECT payload FROM postbag.outbox`); err != nil {
		t.Errorf("a relay cannot read: %v", err)
	}
}

func TestGrantsRefusesWhatItCannotPrint(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"grants"},
		{"grants", "shop"},
		{"grants", "", "--for", "relay"},
		{"grants", "shop", "--for", "owner"},
		{"grants", "shop", "--for", "producer"},
		{"grants", "shop", "--for", "relay", "--box", "outbox"},
		{"grants", "shop", "--for", "producer", "--box", "out;box"},
	} {
		cli(t, args...).ends(exit.Usage)
	}
}
