package pgstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// Functions that run as their owner are tried by a role with a producer's rights: whatever relation or type their text names is
// there in the role's own temporary schema too, and says so when it is used. The owner of the tables is no superuser, and nobody
// may ask for the system's identifier.
func TestSecurityDefinerFunctionsIgnoreObjectsOfTheCaller(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	owner := s.name + "_owner"
	s.exec("CREATE ROLE " + owner + " LOGIN PASSWORD 'x'")
	s.exec("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
	functions := map[string]string{} // how each is called, and its text
	rows, err := s.plain.Query(t.Context(), `SELECT p.proname, p.pronargs, p.prosrc, coalesce(array_to_string(p.proconfig, ' '), '') FROM pg_proc p
		WHERE p.prosecdef AND p.pronamespace = 'postbag'::regnamespace`)
	s.Must(err)
	for rows.Next() {
		var name, text, settings string
		var arguments int
		s.Must(rows.Scan(&name, &arguments, &text, &settings))
		call := "SELECT postbag." + name + "()"
		if arguments == 1 {
			call = "SELECT postbag." + name + "('00000000-0000-0000-0000-000000000007'::pg_catalog.uuid)"
		}
		functions[call] = text
		if !strings.Contains(settings, "search_path=pg_catalog, pg_temp") {
			t.Errorf("%s has the settings %q, without search_path = pg_catalog, pg_temp", name, settings)
		}
	}
	s.Must(rows.Err())
	if len(functions) < 2 {
		t.Errorf("%d functions run as their owner", len(functions))
	}
	for call := range functions {
		name, _, _ := strings.Cut(strings.TrimPrefix(call, "SELECT "), "(")
		s.exec("GRANT ALL ON SCHEMA postbag TO " + owner)
		s.exec("ALTER ROUTINE " + name + " OWNER TO " + owner)
	}
	s.exec("GRANT ALL ON ALL TABLES IN SCHEMA postbag TO " + owner)
	rights, err := pgstore.GrantProducer(s.name+"_app", "outbox")
	s.Must(err)
	app := s.role(s.name+"_app", rights)
	for call, text := range functions {
		for _, name := range regexp.MustCompile(`[a-z_]+`).FindAllString(text, -1) {
			app.lead(t, call, name)
		}
	}
	s.exec("REASSIGN OWNED BY " + owner + " TO CURRENT_USER")
	s.exec("DROP OWNED BY " + owner)
	s.exec("DROP ROLE " + owner)
}

// lead calls a function while a name stands for something else in the caller's temporary schema.
func (f *fixture) lead(t *testing.T, call, name string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), f.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	run := func(sql string) error {
		_, err := conn.Exec(t.Context(), sql)
		return err
	}
	if err := run("CREATE FUNCTION pg_temp.told() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'led as %', current_user; END $$"); err != nil {
		t.Fatal(err)
	}
	const view = "CREATE TEMPORARY VIEW %[2]s AS SELECT t.* FROM %[1]s.%[2]s t WHERE pg_temp.told()" //nolint:unqueryvet // with every column, whatever it is
	//nolint:unqueryvet // as above
	made := run(fmt.Sprintf(view, "pg_catalog", name)) == nil || run(fmt.Sprintf(view, "postbag", name)) == nil ||
		run("CREATE DOMAIN pg_temp."+name+" AS pg_catalog."+name+" CHECK (pg_temp.told())") == nil
	if !made {
		return
	}
	if err := run(call); err != nil && strings.Contains(err.Error(), "led as") {
		t.Errorf("%s with a temporary %s: %v", call, name, err)
	}
}

// A producer with every right that the library prints for one.
func TestAHostileProducerStopsNoOther(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	rights, err := pgstore.GrantProducer(s.name+"_app", "outbox")
	s.Must(err)
	app := s.role(s.name+"_app", rights)
	later := boxtest.Messages(2, "k")
	for i := range later {
		later[i].NotBefore = time.Now().Add(time.Hour)
	}
	s.publish(later...)
	for _, sql := range []string{
		"INSERT INTO postbag._life (life) VALUES (0)", "DELETE FROM postbag._life", "UPDATE postbag._life SET life = 0", "TRUNCATE postbag._life",
		"DELETE FROM postbag.outbox__scheduled", "SELECT id FROM postbag.outbox__scheduled", "UPDATE postbag.outbox__scheduled SET due = now()",
		"SELECT currval('postbag._token')", "SELECT nextval('postbag._token')", "SELECT setval('postbag.outbox__seq', 1)",
		"INSERT INTO postbag.outbox (at) VALUES (now())",
		"CREATE TABLE postbag.x ()", "BEGIN; LOCK TABLE postbag.outbox IN ACCESS EXCLUSIVE MODE; COMMIT", "BEGIN; LOCK TABLE postbag._epoch IN ACCESS SHARE MODE; COMMIT",
		"SELECT FROM postbag._boxes", "SELECT FROM postbag._audit",
	} {
		if _, err := app.plain.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("a producer may %s: %v", sql, err)
		}
	}
	for _, sql := range []string{
		"INSERT INTO postbag.outbox__scheduled (due) VALUES ('infinity')", "INSERT INTO postbag.outbox__scheduled (due) VALUES ('-infinity')", "INSERT INTO postbag.outbox__scheduled (due) VALUES ('294276-12-31')",
		"INSERT INTO postbag.outbox (headers) VALUES (('{\"a\":' || repeat('[', 10000) || repeat(']', 10000) || '}')::json)",
		"INSERT INTO postbag.outbox (headers) VALUES (json_build_object('a', repeat('x', 70000)))",
		"INSERT INTO postbag.outbox (payload) VALUES (convert_to(repeat('x', 17000000), 'UTF8'))",
	} {
		if _, err := app.plain.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "violates check constraint") {
			t.Errorf("a producer may %s: %v", sql, err)
		}
	}
	if there, err := s.cancelled(app, later[0].ID); !there || err != nil {
		t.Errorf("a message is not cancelled by its id: %v", err)
	}
	if there, err := s.cancelled(app, postbag.NewID()); there || err != nil {
		t.Errorf("a message that is not there is cancelled: %v", err)
	}
	s.Housekeep()
	if got := s.number("SELECT count(*) FROM postbag.outbox__scheduled"); got != 1 {
		t.Errorf("%d messages are scheduled, not 1", got)
	}
}

func (s *testBox) cancelled(f *fixture, id postbag.ID) (there bool, err error) {
	err = f.InTx(s.Context(), func(ctx context.Context, tx pgx.Tx) error {
		there, err = f.Cancel(ctx, tx, "outbox", id)
		return err
	})
	return there, err
}

// Rows from before there was a constraint: nothing that a producer could write then stops a box's housekeeping.
func TestInfiniteTimesDoNotStopHousekeeping(t *testing.T) {
	t.Parallel()
	for _, due := range []string{"-infinity", "infinity", "294276-12-31 23:59:59.999999Z", "4713-01-01 00:00:00Z BC"} {
		s := newTestBox(t)
		s.exec("ALTER TABLE postbag.outbox__scheduled DROP CONSTRAINT outbox__scheduled__sound")
		s.exec("INSERT INTO postbag.outbox__scheduled (due, topic) VALUES ($1, 'endless')", due)
		never := due == "infinity" || due[0] == '2'
		if never {
			if r := s.Housekeep(); r.NextDue >= 0 && r.NextDue < 1000*time.Hour {
				t.Errorf("a message that is never due is due in %s", r.NextDue)
			}
		}
		items, _, err := s.List(t.Context(), store.Query{Ref: store.Ref{Box: "outbox"}, State: store.StateScheduled})
		if err != nil || len(items) != 1 {
			t.Fatalf("due %s: %d messages are listed: %v", due, len(items), err)
		}
		if y := items[0].NotBefore.Year(); y < 1 || y > 9999 || (items[0].Due > 0) != never {
			t.Errorf("due %s is shown as the year %d, in %v", due, y, items[0].Due)
		}
		s.exec("INSERT INTO postbag.outbox__scheduled (due, topic) VALUES (clock_timestamp(), 'now')")
		s.Housekeep()
		want := 1
		if !never {
			want = 2
		}
		if got := s.Deliver(); len(got) != want {
			t.Errorf("due %s: %d messages come, not %d", due, len(got), want)
		}
	}
}

// A life of zero is none. A process that finds it says so, after a few tries.
func TestAnInvalidDatabaseGenerationIsAnError(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.exec("ALTER TABLE postbag._life DROP CONSTRAINT _life_is_one")
	s.exec("UPDATE postbag._life SET life = 0")
	if _, err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "_life") {
		t.Errorf("it is checked with %v", err)
	}
}

// In a session with another encoding texts would become others on the way.
func TestAnotherClientEncodingIsRefused(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	name := s.name + "_latin"
	rights, err := pgstore.GrantProducer(name, "outbox")
	s.Must(err)
	latin := s.role(name, rights+pgstore.GrantRelay(name)) // opened before it has the encoding
	s.exec("ALTER ROLE " + name + " SET client_encoding = 'LATIN1'")
	latin.pool.Reset()
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "client_encoding") {
			t.Errorf("%s says %v", what, err)
		}
	}
	for what, msgs := range map[string][]postbag.Message{"one": boxtest.Messages(1, "å"), "two": boxtest.Messages(2, "å")} {
		refused(what, latin.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error { return latin.Append(ctx, tx, "outbox", msgs) }))
	}
	later := boxtest.Messages(1, "å")
	later[0].NotBefore = time.Now().Add(time.Hour)
	refused("one for later", latin.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error { return latin.Append(ctx, tx, "outbox", later) }))
	_, err = latin.Check(t.Context())
	refused("Check", err)
	_, err = latin.Turn(t.Context(), store.Turn{Read: []store.Request{boxtest.Request(outbox, "", 10)}})
	refused("Turn", err)
	db, err := sql.Open("pgx", latin.dsn)
	s.Must(err)
	defer func() { s.Must(db.Close()) }()
	a, err := pgstore.OpenAppender(t.Context(), db, pgstore.AppenderOptions{})
	s.Must(err)
	refused("database/sql", a.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		return a.Append(ctx, tx, "outbox", boxtest.Messages(1, "å"))
	}))
	if got := s.Read(); len(got) != 0 {
		t.Errorf("%d messages were taken", len(got))
	}
}
