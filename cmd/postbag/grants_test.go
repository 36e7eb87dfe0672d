package main

import (
	"context"
	"net/url"
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
		{"grants", "shop", "--for", "consumer", "--box", "outbox"},
		{"grants", "shop", "--for", "consumer", "--store-kind", "mysql", "--box", "outbox"},
		{"grants", "shop", "--for", "console", "--box", "outbox"},
		{"grants", "shop", "--for", "relay", "--store-kind", "mysql"},
		{"grants", "shop", "--for", "relay", "--store-kind", "oracle"},
		{"grants", "shop", "--for", "producer", "--box", "out;box"},
		{"grants", "shop", "--for", "relay", "--partitioned"},
		{"grants", "shop", "--for", "console", "--role", "admin"},
		{"grants", "shop", "--for", "console", "--role", "operator"},
		{"grants", "shop", "--for", "relay", "--role", "operator"},
		{"grants", "shop", "--for", "relay", "--audit"},
		{"grants", "shop", "--for", "producer", "--box", "outbox", "--edits"},
		{"grants", "shop", "--for", "console", "--edits"},
		{"grants", "shop", "--for", "console", "--store-kind", "mysql", "--box", "outbox", "--partitioned"},
	} {
		cli(t, args...).ends(exit.Usage)
	}
}

func TestGrantsSayThatSQLiteHasFilePermissions(t *testing.T) {
	t.Parallel()
	cli(t, "grants", "shop", "--for", "relay", "--store-kind", "sqlite").ends(exit.Usage, "the rights are those of the file")
}

func TestGrantsOfARelayHaveWhatPartitionsNeedIfAsked(t *testing.T) {
	t.Parallel()
	args := []string{"grants", "shop", "--for", "relay", "--store-kind", "mariadb", "--box", "outbox"}
	if got := cli(t, args...).ok(); strings.Contains(got.out, "DROP") {
		t.Errorf("without partitions it grants %s", got.out)
	}
	cli(t, append(args, "--partitioned")...).ok().says("GRANT SELECT, INSERT, UPDATE, DELETE ON postbag_outbox TO `shop`",
		"GRANT CREATE, ALTER, DROP ON postbag_outbox TO `shop`", "GRANT LOCK TABLES ON * TO `shop`")
}

// A console's rights are enough for the commands that look, and for no other.
func TestTheGrantsOfAConsoleAllowReadingOnly(t *testing.T) {
	t.Parallel()
	look := func(t *testing.T, owner, at *place) {
		t.Helper()
		cli(t, "publish", owner.flag, owner.where, "--payload", "x").ok()
		if got := arrived(t, owner); len(got) != 1 {
			t.Fatalf("%d messages came, want 1", len(got))
		}
		items := cli(t, "messages", "list", at.flag, at.where, "--json").ok().items()
		if len(items) != 1 {
			t.Fatalf("it lists %d messages, want 1", len(items))
		}
		cli(t, "messages", "show", items[0].ID.String(), at.flag, at.where).ok()
		cli(t, "status", at.flag, at.where).ok().says("BOX outbox: 1 message")
		cli(t, "audit", at.flag, at.where).ok()
		for _, args := range [][]string{
			{"publish", "--payload", "x"},
			{"messages", "erase", items[0].ID.String(), "--why", "x"},
			{"shards", "set", "8", "--why", "x"},
			{"subscriptions", "pause", "--why", "x"},
			{"migrate", "up", "--box", "other"},
		} {
			if got := cli(t, append(args, at.flag, at.where)...); got.code == 0 {
				t.Errorf("a console may %s: %s", args[0], got.out)
			}
		}
	}
	t.Run("postgresql", func(t *testing.T) {
		t.Parallel()
		owner := emptyDatabase(t)
		cli(t, "migrate", "up", owner.flag, owner.where, "--box", "outbox").ok()
		dsn := dsnOf(t, owner)
		role := "console_" + strings.Trim(dsn.Path, "/")
		conn, err := pgx.Connect(t.Context(), postgres.Server(t).DSN(strings.Trim(dsn.Path, "/")))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		if _, err := conn.Exec(t.Context(), "CREATE ROLE "+role+" LOGIN PASSWORD 'x'"); err != nil {
			t.Fatal(err)
		}
		execute(t, owner, cli(t, "grants", role, "--for", "console").ok().out)
		dsn.User = url.UserPassword(role, "x")
		look(t, owner, &place{flag: "--store-file", where: write(t, "dsn", dsn.String()+"\n")})
	})
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		owner := emptyMariaDB(t)
		cli(t, "migrate", "up", owner.flag, owner.where, "--box", "outbox").ok()
		dsn := dsnOf(t, owner)
		name := strings.Trim(dsn.Path, "/")
		statements := []string{"CREATE USER console_" + name + "@'%' IDENTIFIED BY 'x'"}
		for line := range strings.Lines(cli(t, "grants", "console_"+name+"@%", "--for", "console", "--store-kind", "mariadb", "--box", "outbox").ok().out) {
			statements = append(statements, strings.Replace(line, " ON postbag", " ON "+name+".postbag", 1))
		}
		if err := asRoot(statements...); err != nil {
			t.Fatal(err)
		}
		dsn.User = url.UserPassword("console_"+name, "x")
		look(t, owner, &place{flag: "--store-file", where: write(t, "dsn", dsn.String()+"\n")})
	})
}

func TestTheGrantsOfAConsumerAllowMarkingOnly(t *testing.T) {
	t.Parallel()
	at := emptyDatabase(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	database := strings.Trim(dsnOf(t, at).Path, "/")
	role := "consumer " + database // needs quotes
	conn, err := pgx.Connect(t.Context(), postgres.Server(t).DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), `CREATE ROLE "`+role+`"`); err != nil {
		t.Fatal(err)
	}
	execute(t, at, cli(t, "grants", role, "--for", "consumer").ok().out)
	if _, err := conn.Exec(t.Context(), `SET ROLE "`+role+`"; INSERT INTO postbag._once (consumer, id) VALUES ('a', 'x') ON CONFLICT DO NOTHING`); err != nil {
		t.Errorf("the role cannot mark: %v", err)
	}
	if _, err := conn.Exec(t.Context(), `DELETE FROM postbag._once`); err == nil {
		t.Error("a consumer removes marks")
	}
}
