package main

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store/pgstore"
)

// site is a database with a box, and the SQL of the contract's page.
type site struct {
	*place

	t      *testing.T
	blocks []string
}

func newSite(t *testing.T) *site {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "sql-contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, place: emptyDatabase(t)}
	for _, m := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		s.blocks = append(s.blocks, m[1])
	}
	if len(s.blocks) < 9 {
		t.Fatalf("the page has %d blocks of SQL, want an INSERT, the rights of four roles, and an inbox with the rights for it", len(s.blocks))
	}
	cli(t, "migrate", "up", s.flag, s.where, "--box", "outbox").ok()
	return s
}

// as makes a role that has the rights of some blocks, and returns its DSN.
func (s *site) as(name string, blocks ...int) string {
	s.t.Helper()
	dsn := dsnOf(s.t, s.place)
	database := strings.TrimPrefix(dsn.Path, "/")
	role := database + "_" + name
	server := postgres.Server(s.t)
	script := `CREATE ROLE ` + role + ` LOGIN PASSWORD '` + canary + "';\n"
	for _, i := range blocks {
		script += regexp.MustCompile(` TO \w+;`).ReplaceAllString(s.blocks[i], " TO "+role+";")
	}
	if _, err := server.Exec(s.t.Context(), database, script); err != nil {
		s.t.Fatal(err)
	}
	dsn.User = url.UserPassword(role, canary)
	return dsn.String()
}

// db opens a database as its role.
func (s *site) db(dsn string) *sql.DB {
	s.t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestTheDocumentedRightsOfAProducerAreEnough(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	plain := s.db(s.as("sql", 1))
	for _, statement := range []string{
		s.blocks[0],
		`INSERT INTO postbag.outbox DEFAULT VALUES`,
		`INSERT INTO postbag.outbox (id, topic, key, shard_key, type, headers, payload) VALUES (gen_random_uuid(), 't', 'k', 's', 'y', '{"n": 1}', '')`,
	} {
		if _, err := plain.ExecContext(t.Context(), statement); err != nil {
			t.Errorf("the producer may not %s: %v", statement, err)
		}
	}
	if n := copied(t, s.as("copy", 1)); n != 2 {
		t.Errorf("COPY brought %d rows, want 2", n)
	}
	goDSN := s.as("go", 1, 2)
	publishAndCancel(t, s.db(goDSN))
	cli(t, "publish", "--store-file", write(t, "dsn", goDSN), "--payload", "x").ok()
	// It cannot read by what rule the box was made, which the file says.
	file := "store: {dsn_file: " + write(t, "dsn", goDSN) + "}\ndestinations: {out: {stdout: }}\nboxes: {outbox: {slots: hash}}\nsubscriptions: [{to: out}]\n"
	cli(t, "publish", "-c", write(t, "postbag.yaml", file), "--payload", "x").ok()

	relay := &place{flag: "--store-file", where: write(t, "dsn", s.as("relay", 3))}
	if got := arrived(t, relay); len(got) != 8 {
		t.Errorf("%d messages came, want 8", len(got))
	}
	cli(t, "status", relay.flag, relay.where).ok()
	cli(t, "messages", "list", relay.flag, relay.where).ok()
	cli(t, "shards", "set", "2", relay.flag, relay.where, "--why", "test").ok()
	cli(t, "audit", relay.flag, relay.where).ok().says("shards outbox/default 2")
	cli(t, "migrate", "status", relay.flag, relay.where).ok()
	cli(t, "migrate", "up", relay.flag, relay.where, "--box", "more").ends(exit.Failed, "permission denied")
}

func TestAProducerHasNoMoreThanTheDocumentedRights(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	db := s.db(s.as("sql", 1))
	for _, statement := range []string{
		`SELECT * FROM postbag.outbox`,
		`UPDATE postbag.outbox SET topic = 'x'`,
		`DELETE FROM postbag.outbox`,
		`TRUNCATE postbag.outbox`,
		`INSERT INTO postbag.outbox (seq) VALUES (7)`,
		`INSERT INTO postbag.outbox (xid) VALUES ('7')`,
		`INSERT INTO postbag.outbox (at) VALUES (now())`,
		`INSERT INTO postbag.outbox (place) VALUES (7)`,
		`SELECT setval('postbag.outbox__seq', 1)`,
		`INSERT INTO postbag.outbox__p0 DEFAULT VALUES`,
		`INSERT INTO postbag._commands (sub, slot, seq, kind) VALUES (1, 1, 1, 1)`,
		// What would go wrong later.
		`INSERT INTO postbag.outbox (id) VALUES ('00000000-0000-0000-0000-000000000000')`,
		`INSERT INTO postbag.outbox (id) VALUES (NULL)`,
		`INSERT INTO postbag.outbox (topic) VALUES (NULL)`,
		`INSERT INTO postbag.outbox (payload) VALUES (NULL)`,
		`INSERT INTO postbag.outbox (payload) VALUES ('{"text":"a\nb"}')`,
		`INSERT INTO postbag.outbox (headers) VALUES ('[1]')`,
		`INSERT INTO postbag.outbox (headers) VALUES ('null')`,
		`INSERT INTO postbag.outbox (topic) VALUES (repeat('x', 256))`,
		`INSERT INTO postbag.outbox (key) VALUES (repeat('x', 1025))`,
		`INSERT INTO postbag.outbox (key) VALUES (E'a\x00')`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("a producer may: %s", statement)
		}
	}
}

// copied copies two rows into the box.
func copied(t *testing.T, dsn string) int64 {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	tag, err := conn.PgConn().CopyFrom(t.Context(), strings.NewReader("t\tk\t1\nt\tk\t2\n"),
		`COPY postbag.outbox (topic, key, payload) FROM STDIN`)
	if err != nil {
		t.Fatal(err)
	}
	return tag.RowsAffected()
}

// publishAndCancel publishes with the library: a message, and another that is
// cancelled before its time.
func publishAndCancel(t *testing.T, db *sql.DB) {
	t.Helper()
	appender, err := pgstore.OpenAppender(t.Context(), db, pgstore.AppenderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := postbag.NewPublisher(appender, postbag.PublisherOptions{})
	if err != nil {
		t.Fatal(err)
	}
	later := postbag.NewID()
	err = pub.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		return pub.PublishOrdered(ctx, tx, postbag.Message{Key: "k"}, postbag.Message{ID: later, Key: "k", NotBefore: time.Now().Add(time.Hour)})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = pub.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		if done, err := pub.Cancel(ctx, tx, later); err != nil || !done {
			t.Errorf("the message was not cancelled: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A consumer in SQL alone has what the page says and no more; a relay's rights are for the rest.
func TestTheDocumentedRightsOfAConsumerAreEnough(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	consumer := s.db(s.as("consumer", 7))
	mark, sum, keep := s.blocks[5], s.blocks[6], s.blocks[8]
	for _, want := range []int64{1, 0} {
		result, err := consumer.ExecContext(t.Context(), mark)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); err != nil || n != want {
			t.Errorf("the statement writes %d rows, want %d: %v", n, want, err)
		}
	}
	insert, ask, _ := strings.Cut(sum, ";\n")
	var other bool
	for range 2 {
		if _, err := consumer.ExecContext(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
	}
	if err := consumer.QueryRowContext(t.Context(), ask).Scan(&other); err != nil || other {
		t.Errorf("the sums differ: %v, %v", other, err)
	}
	if err := consumer.QueryRowContext(t.Context(), strings.Replace(ask, "17", "18", 1)).Scan(&other); err != nil || !other {
		t.Errorf("other sums do not differ: %v", err)
	}
	for _, statement := range []string{keep, `DELETE FROM postbag._once`, `UPDATE postbag._once SET at = now()`, `SELECT * FROM postbag.outbox`} {
		if _, err := consumer.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("a consumer may: %s", statement)
		}
	}
	if _, err := s.db(s.as("relay", 3)).ExecContext(t.Context(), keep); err != nil {
		t.Errorf("a relay may not %s: %v", keep, err)
	}
}
