package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store/sqlitestore"
)

// onEachEmptyStore runs a test on each kind of store, with nothing in it: an empty
// file, and an empty database.
func onEachEmptyStore(t *testing.T, f func(t *testing.T, at *place)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		at := emptyFile(t)
		if err := os.WriteFile(at.where, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		f(t, at)
	})
	t.Run("postgresql", func(t *testing.T) {
		t.Parallel()
		f(t, emptyDatabase(t))
	})
}

func TestMigrateMakesTheSchemaOnceAndSaysSo(t *testing.T) {
	t.Parallel()
	onEachEmptyStore(t, func(t *testing.T, at *place) {
		var done migrated
		cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox", "--box", "orders", "--json").ok().json(&done)
		if len(done.Steps) == 0 || len(done.Boxes) != 2 {
			t.Errorf("it did %+v, want all steps and two boxes", done)
		}
		cli(t, "migrate", "up", at.flag, at.where).ok().says("up to date")
		var state schemaState
		cli(t, "migrate", "status", at.flag, at.where, "--json").ok().json(&state)
		if state.Version != len(done.Steps) || len(state.Pending) != 0 {
			t.Errorf("the state is %+v, want version %d and nothing pending", state, len(done.Steps))
		}
		cli(t, "migrate", "print", at.flag, at.where).ok().says("no step is missing")
		cli(t, "migrate", "up", at.flag, at.where, "--box", "orders", "--box", "third").ok().says("box third is there")
		cli(t, "status", at.flag, at.where).ok().says("BOX outbox", "BOX orders", "BOX third")
	})
}

func TestMigrateDoesNotMakeAFileToLookAtIt(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "status", at.flag, at.where).ends(exit.Usage, "there is no file")
	cli(t, "migrate", "print", at.flag, at.where).ends(exit.Usage, "there is no file")
	if _, err := os.Stat(at.where); !os.IsNotExist(err) {
		t.Errorf("to look at a missing file made it (%v)", err)
	}
	cli(t, "migrate", "up", at.flag, at.where).ok().says("applied")
}

func TestMigrateShowsWhatIsMissingAndDoesNothing(t *testing.T) {
	t.Parallel()
	onEachEmptyStore(t, func(t *testing.T, at *place) {
		cli(t, "migrate", "status", at.flag, at.where).ends(exit.Schema, "version 0", "postbag", "migrate up")
		cli(t, "migrate", "print", at.flag, at.where).ok().says("-- step 1", "CREATE TABLE")
		var steps []printedStep
		cli(t, "migrate", "print", at.flag, at.where, "--json").ok().json(&steps)
		if len(steps) == 0 || steps[0].Version != 1 || steps[0].SQL == "" {
			t.Errorf("the steps are %+v", steps)
		}
		for _, args := range [][]string{
			{"status"},
			{"audit"},
			{"publish", "--payload", "x"},
			{"messages", "list"},
			{"messages", "retry", "--all", "--why", "test"},
			{"shards", "set", "4", "--why", "test"},
			{"relay", "--to", "stdout:", "--drain"},
		} {
			cli(t, append(args, at.flag, at.where)...).ends(exit.Schema, "migrate up")
		}
		cli(t, "migrate", "status", at.flag, at.where).ends(exit.Schema, "version 0")
	})
}

func TestThePrintedSchemaWorksLikeTheMigratedOne(t *testing.T) {
	t.Parallel()
	onEachEmptyStore(t, func(t *testing.T, at *place) {
		script := cli(t, "migrate", "print", at.flag, at.where).ok().out
		execute(t, at, script)
		cli(t, "migrate", "status", at.flag, at.where).ok().says("; missing: 0 steps")
		cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok().says("up to date", "box outbox is there")
		cli(t, "publish", at.flag, at.where, "--payload", "x").ok()
		if got := arrived(t, at); len(got) != 1 {
			t.Errorf("%d messages came, want 1", len(got))
		}
	})
}

// execute runs a script in one transaction, as another tool would.
func execute(t *testing.T, at *place, script string) {
	t.Helper()
	if at.flag == "--store" {
		db, err := sql.Open("sqlite", sqlitestore.DSN(at.where))
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(t.Context(), "BEGIN; "+script+"; COMMIT")
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(at.where)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.PgConn().Exec(t.Context(), script).ReadAll() // one transaction without BEGIN
	if err := errors.Join(err, conn.Close(context.Background())); err != nil {
		t.Fatal(err)
	}
}

func TestABoxOnMariaDBIsPartitionedIfTheFileSaysSo(t *testing.T) {
	t.Parallel()
	at := emptyMariaDB(t)
	file := write(t, "postbag.yaml", "store: "+strings.TrimSuffix(at.yaml, "}")+", partition: 24h}\ndestinations: {out: {stdout: {}}}\n")
	cli(t, "migrate", "up", "-c", file, "--box", "outbox").ok().says("box outbox is there")
	db, err := sql.Open("mysql", mariadb.server.DSN(strings.Trim(dsnOf(t, at).Path, "/")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var parts, every int
	err = db.QueryRowContext(t.Context(), `SELECT COUNT(partition_name), (SELECT every DIV 3600000000 FROM postbag__partition WHERE box = 'outbox')
		FROM information_schema.partitions WHERE table_schema = DATABASE() AND table_name = 'postbag_outbox'`).Scan(&parts, &every)
	if err != nil || parts < 3 || every != 24 {
		t.Errorf("the box has %d partitions of %d hours: %v", parts, every, err)
	}
	cli(t, "publish", "-c", file, "--payload", "x").ok()
	sqlite := write(t, "sqlite.yaml", "store: {dsn_file: '"+write(t, "place", "box.db\n")+"', partition: 24h}\ndestinations: {out: {stdout: {}}}\n")
	cli(t, "status", "-c", sqlite).ends(exit.Usage, "partition is not for sqlite")
}

// Without a store, all that migrate up would run is written; a relay then works with it.
func TestBoxesArePrintedWithoutAStore(t *testing.T) {
	t.Parallel()
	onEachEmptyStore(t, func(t *testing.T, at *place) {
		kind := "postgresql"
		if at.flag == "--store" {
			kind = "sqlite"
		}
		execute(t, at, cli(t, "migrate", "print", "--store-kind", kind, "--box", "outbox").ok().out)
		cli(t, "migrate", "status", at.flag, at.where).ok().says("; missing: 0 steps")
		cli(t, "migrate", "print", at.flag, at.where, "--box", "outbox").ok().says("no step is missing")
		second := cli(t, "migrate", "print", at.flag, at.where, "--box", "outbox", "--box", "orders").ok().says("-- box orders").out
		execute(t, at, second)
		cli(t, "migrate", "print", "--store-kind", kind, "--after", "1").ok().says("-- step 2")
		cli(t, "publish", at.flag, at.where, "--payload", "x").ok()
		cli(t, "publish", at.flag, at.where, "--box", "orders", "--payload", "x").ok()
		if got := arrived(t, at); len(got) != 1 {
			t.Errorf("%d messages came, want 1", len(got))
		}
		cli(t, "status", at.flag, at.where).ok().says("BOX outbox", "BOX orders")
	})
}

func TestPrintRefusesWhatItCannotWrite(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{},
		{"--store-kind", "oracle"},
		{"--store-kind", "sqlite", "--format", "liquibase"},
		{"--store-kind", "sqlite", "--partition", "24h"},
		{"--store-kind", "sqlite", "--after", "-1"},
		{"--store", "shop.db", "--after", "1"},
	} {
		cli(t, append([]string{"migrate", "print"}, args...)...).ends(exit.Usage, "--")
	}
	cli(t, "migrate", "print", "--store-kind", "sqlite", "--box", "a;b").ends(exit.Usage)
	cli(t, "migrate", "print", "--store-kind", "mariadb", "--box", "outbox", "--partition", "24h").ok().says("PARTITION BY RANGE", "86400000000")
}

// The SQL does the same whatever the session looks up first: no object of it goes anywhere else.
func TestPrintedSQLDoesNotMindTheSearchPath(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"another schema": "elsewhere", "none": "''"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := emptyDatabase(t)
			printed := cli(t, "migrate", "print", "--store-kind", "postgresql", "--box", "outbox").ok().out
			execute(t, at, "CREATE SCHEMA elsewhere; SET search_path = "+path+"; "+printed+
				"; DO $$ BEGIN IF EXISTS (SELECT FROM pg_catalog.pg_class WHERE relnamespace <> 'postbag'::regnamespace AND oid >= 16384"+
				" AND relnamespace <> 'pg_toast'::regnamespace) OR EXISTS (SELECT FROM pg_catalog.pg_proc WHERE pronamespace <> 'postbag'::regnamespace AND oid >= 16384)"+
				" THEN RAISE 'something is elsewhere'; END IF; END $$")
			cli(t, "migrate", "status", at.flag, at.where).ok().says("; missing: 0 steps")
			cli(t, "publish", at.flag, at.where, "--payload", "x").ok()
			if got := arrived(t, at); len(got) != 1 {
				t.Errorf("%d messages came, want 1", len(got))
			}
		})
	}
}

func TestMigrateMakesBoxesWithSlotsByNumber(t *testing.T) {
	t.Parallel()
	onEachEmptyStore(t, func(t *testing.T, at *place) {
		cli(t, "migrate", "up", at.flag, at.where, "--box", "accounts", "--slots", "number").ok().says("box accounts is there")
		cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
		cli(t, "migrate", "up", at.flag, at.where, "--box", "accounts").ok()
		cli(t, "migrate", "up", at.flag, at.where, "--box", "accounts", "--slots", "number").ok()
		cli(t, "migrate", "up", at.flag, at.where, "--box", "accounts", "--slots", "hash").ends(exit.Usage, "box accounts has slots by number", "make another box")
		cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox", "--slots", "number").ends(exit.Usage, "box outbox has slots by hash", "make another box")
		cli(t, "migrate", "print", at.flag, at.where, "--box", "outbox", "--slots", "number").ends(exit.Usage, "box outbox has slots by hash", "make another box")
		cli(t, "migrate", "print", at.flag, at.where, "--box", "accounts", "--slots", "number").ok().says("no step is missing")
		cli(t, "migrate", "print", at.flag, at.where, "--box", "more", "--slots", "number").ok().says("more")
		cli(t, "publish", at.flag, at.where, "--box", "accounts", "--key", "42", "--payload", "{}").ok()
		cli(t, "publish", at.flag, at.where, "--box", "accounts", "--key", "customer", "--payload", "{}").ends(exit.Usage, "takes slots by number", "Message.ShardKey")
	})
}

func TestMigrateRefusesARuleForSlotsThatThereIsNot(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "a", "--slots", "custom").ends(exit.Usage, "say hash or number")
	cli(t, "migrate", "up", at.flag, at.where, "--slots", "number").ends(exit.Usage, "name the boxes")
	cli(t, "migrate", "print", "--store-kind", "sqlite", "--slots", "number").ends(exit.Usage, "name the boxes")
	cli(t, "migrate", "print", "--store-kind", "sqlite", "--box", "a", "--slots", "number").ok().says("decimal integer", "SET slots = 1 WHERE name = 'a'")
	cli(t, "migrate", "print", "--store-kind", "postgresql", "--box", "a", "--slots", "number").ok().says("CREATE TRIGGER a__number")
	cli(t, "migrate", "print", "--store-kind", "mysql", "--box", "a", "--slots", "number").ok().says("postbag_a__number")
}

// The file says the rule of a box as well: for migrate up, and for a relay with create.
func TestAConfigurationNamesTheRuleForSlotsOfABox(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	write := func(slots string) string {
		path := filepath.Join(t.TempDir(), "postbag.yaml")
		text := "store: {dsn: " + at.where + "}\ndestinations: {out: {stdout: }}\nboxes: {accounts: {slots: " + slots + "}}\nsubscriptions: [{to: out, box: accounts}]\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cli(t, "migrate", "up", "-c", write("number"), "--box", "accounts").ok()
	cli(t, "status", "-c", write("number")).ok()
	cli(t, "status", "-c", write("hash")).ends(exit.Usage, "boxes.accounts.slots is hash, and the box was made with slots by number")
	cli(t, "status", "-c", write("custom")).ends(exit.Usage, "choose one of hash, number")
}

// Stores of one file can have boxes of one name that have nothing to do with each other.
func TestARuleForSlotsIsOnlyOfTheStoresThatTheFileUsesTheBoxIn(t *testing.T) {
	t.Parallel()
	a, b := emptyFile(t), emptyFile(t)
	cli(t, "migrate", "up", a.flag, a.where, "--box", "accounts", "--slots", "number").ok()
	cli(t, "migrate", "up", b.flag, b.where, "--box", "accounts").ok()
	path := filepath.Join(t.TempDir(), "postbag.yaml")
	write := func(second string) {
		text := "stores: {a: {dsn: " + a.where + "}, b: {dsn: " + b.where + "}}\ndestinations: {out: {stdout: }}\nboxes: {accounts: {slots: number}}\n" +
			"subscriptions: [{to: out, store: a, box: accounts}, {to: out, store: b, box: " + second + "}]\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("other")
	cli(t, "status", "-c", path, "--store-name", "a").ok()
	cli(t, "status", "-c", path, "--store-name", "b").ok()
	write("accounts")
	cli(t, "status", "-c", path, "--store-name", "b").ends(exit.Usage, "boxes.accounts.slots is number, and the box was made with slots by hash")
}
