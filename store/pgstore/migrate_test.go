package pgstore_test

import (
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// A box of the first version, with messages in it, comes to have what a new one has.
func TestABoxOfAnEarlierVersionIsMigrated(t *testing.T) {
	t.Parallel()
	dsn := shared.Database(t)
	old := newFixture(t, dsn, func(_ *pgxpool.Config, o *pgstore.Options) { *o = pgstore.Options{Unmigrated: true} })
	run := func(sql string) {
		t.Helper()
		if _, err := old.plain.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	_, missing, err := old.Pending(t.Context())
	if err != nil || len(missing) < 2 {
		t.Fatalf("%d steps are missing: %v", len(missing), err)
	}
	run(missing[0].SQL)
	box, err := os.ReadFile("testdata/box_v1.sql")
	if err != nil {
		t.Fatal(err)
	}
	run(string(box))
	run("INSERT INTO postbag.outbox (key, headers, payload) VALUES ('a', '{\"a\": \"b\"}', convert_to(repeat('x', 17000000), 'UTF8'))")
	run("INSERT INTO postbag.outbox__scheduled (due, topic, key) VALUES ('-infinity', '', 'a')")
	run("INSERT INTO postbag.outbox (topic, key, payload) VALUES ('', 'a', 'x')")
	run(missing[1].SQL)
	// A partition as the program of that version adds it: what it is not to take it has by itself.
	run(`CREATE TABLE postbag.outbox__p64 (LIKE postbag.outbox INCLUDING DEFAULTS INCLUDING STORAGE, CONSTRAINT outbox__p64__pk PRIMARY KEY (seq));
DO $$ BEGIN EXECUTE (SELECT 'ALTER TABLE postbag.outbox__p64 ADD CONSTRAINT outbox__sound ' || pg_get_constraintdef(oid)
  FROM pg_constraint WHERE conrelid = 'postbag.outbox'::regclass AND conname = 'outbox__sound'); END $$;
ALTER TABLE postbag.outbox ATTACH PARTITION postbag.outbox__p64 FOR VALUES FROM (67108865) TO (100663297)`)
	if done, err := old.Migrate(t.Context()); err != nil || len(done) != len(missing)-2 {
		t.Fatalf("the steps %q were taken: %v", done, err)
	}
	s := testBoxOn(t, dsn)
	o, err := s.Overview(t.Context())
	if err != nil || len(o.Boxes) != 1 || o.Boxes[0].Retention == nil || *o.Boxes[0].Retention != (store.BoxRetention{}) {
		t.Errorf("after the migration the box is %+v, with something of its retention: %v", o.Boxes, err)
	}
	for _, sql := range []string{
		"INSERT INTO postbag.outbox (payload) VALUES (convert_to(repeat('x', 17000000), 'UTF8'))", "INSERT INTO postbag.outbox (seq) VALUES (7)",
		"INSERT INTO postbag.outbox__scheduled (due) VALUES ('-infinity')", "INSERT INTO postbag._life (life) VALUES (0)",
		"INSERT INTO postbag.outbox (topic) VALUES ('')", "INSERT INTO postbag.outbox__scheduled (due, topic) VALUES (now(), '')",
	} {
		if _, err := s.plain.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "violates check constraint") && !strings.Contains(err.Error(), "currval") {
			t.Errorf("after the migration one may %s: %v", sql, err)
		}
	}
	s.wantMarked("billing", marksOf("a", "b"), true, true)
	s.wantMarked("billing", marksOf("a"), false)
	if f, err := s.Forget(t.Context()); err != nil || f != (store.Forgotten{Looked: 2, Done: true}) {
		t.Errorf("after the migration it forgets %+v: %v", f, err)
	}
	later := boxtest.Messages(1, "a")
	if there, err := s.cancelled(s.fixture, later[0].ID); there || err != nil {
		t.Errorf("what is not scheduled is cancelled: %v", err)
	}
	s.publish(boxtest.Messages(3, "a")...)
	s.Housekeep()
	came := s.Deliver()
	if len(came) != 6 {
		t.Errorf("%d messages come, not 6", len(came))
	}
	var ids []postbag.ID
	for _, m := range came {
		if m.Topic == "" {
			t.Error("a message without a topic does not go to the box's name")
		}
		ids = append(ids, m.ID)
	}
	if done, err := s.Erase(t.Context(), store.Audit{Who: "test", Why: "test"}, "outbox", ids); err != nil || done.Messages != len(ids) {
		t.Errorf("of %d messages %d are erased: %v", len(ids), done.Messages, err)
	}
	s.burn()
	s.publish(boxtest.Messages(1, "a")...)
	s.Deliver()
	s.Until("the first partition is dropped", func() bool { return s.Total.Dropped == 1 })
	if s.Total.Added == 0 || len(s.Total.Faults) > 0 {
		t.Errorf("%d partitions were added, faults %q", s.Total.Added, s.Total.Faults)
	}
	if got := s.number("SELECT count(*) FROM postbag._boxes WHERE numbering > 0"); got != 1 {
		t.Error("the numbering of the box is not noted")
	}
	same := s.number(`SELECT count(DISTINCT pg_get_constraintdef(oid)) FROM pg_constraint WHERE conname = 'outbox__sound'`)
	if same != 1 {
		t.Errorf("the box and its partitions have %d different constraints", same)
	}
}
