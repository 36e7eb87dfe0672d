package sqlitestore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

func TestAnUnmigratedFileListsItsPendingStepsAndMigrates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new.db")
	f := openAt(t, path, sqlitestore.Options{Create: true, Unmigrated: true})
	version, steps, err := f.Pending(t.Context())
	f.check(err)
	if version != 0 || len(steps) == 0 || steps[0].SQL == "" {
		t.Fatalf("a new file has version %d and %d steps pending, want version 0 and all steps", version, len(steps))
	}
	if _, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{}); !errors.Is(err, store.ErrSchema) {
		t.Fatalf("opening it for work answers %v, want ErrSchema", err)
	}
	done, err := f.Migrate(t.Context())
	f.check(err)
	if len(done) != len(steps) || done[0] != steps[0].Name {
		t.Errorf("took the steps %v, want the %d that were pending", done, len(steps))
	}
	if _, left, err := f.Pending(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("after that %d steps are pending (%v), want none", len(left), err)
	}
	openAt(t, path, sqlitestore.Options{})
}

// A box of an older version refuses after a migration what a new one refuses, and what is there is read as before.
func TestAMigrationTightensBoxesOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	script, err := sqlitestore.Script(nil, "outbox")
	if err != nil {
		t.Fatal(err)
	}
	box := strings.NewReplacer("headers is a JSON object, 64 KiB at most", "headers is a JSON object, 1 MiB at most", "<= 65536 AND instr(headers, char(0)) = 0 AND json_valid(headers)",
		"<= 1048576", "16 MiB at most", "of any size", " AND length(CAST(payload AS BLOB)) <= 16777216", "").Replace(script[len(script)-1].SQL)
	f := openAt(t, filepath.Join(t.TempDir(), "old.db"), sqlitestore.Options{Create: true, Unmigrated: true})
	run := func(text string, args ...any) error {
		_, err := f.DB().ExecContext(t.Context(), text, args...)
		return err
	}
	for _, step := range script[:4] {
		f.check(run(step.SQL))
	}
	f.check(run(box))
	const insert = `INSERT INTO postbag_outbox (topic, key, headers, payload) VALUES ('t', 'k', ?, 'p')`
	bad := []any{`{a:'b'}`, `{"a":"b",}`, "{}\x00x", `{"a":"` + strings.Repeat("x", 65529) + `"}`}
	for _, headers := range bad {
		f.check(run(insert, headers))
	}
	if _, steps, err := f.Pending(t.Context()); err != nil || len(steps) != 15 || !strings.Contains(steps[0].SQL, "CREATE TRIGGER IF NOT EXISTS postbag_outbox__tight") {
		t.Fatalf("what is pending is %v (error: %v)", steps, err)
	}
	_, err = f.Migrate(t.Context())
	f.check(err)
	for _, headers := range append(bad, `[]`, `{`, []byte(`{}`)) {
		if err := run(insert, headers); err == nil {
			t.Errorf("it takes the headers %.40q", headers)
		}
	}
	for _, payload := range []string{"zeroblob(16777217)", "CAST(zeroblob(16777217) AS TEXT)"} {
		if err := run(`INSERT INTO postbag_outbox (payload) VALUES (` + payload + `)`); err == nil {
			t.Errorf("it takes the payload %s", payload)
		}
	}
	good := []any{nil, `{}`, `{"a":"\\ \u00e9"}`, `{"a":"` + strings.Repeat("x", 65528) + `"}`}
	for _, headers := range good {
		f.check(run(insert, headers))
	}
	f.check(run(`INSERT INTO postbag_outbox (payload) VALUES (zeroblob(16777216))`))
	f = openAt(t, f.path, sqlitestore.Options{})
	f.declare(store.Spec{Ref: outbox})
	f.publish(message("last", 1))
	odd := 0
	records := f.readAll("")
	for i := range records {
		if records[i].Err != nil {
			odd++
		}
	}
	if len(records) != len(bad)+len(good)+2 || odd != 3 {
		t.Errorf("%d rows come, %d of them unreadable", len(records), odd)
	}
}

// A new box has its constraints in its table, and needs no trigger for them.
func TestAMigrationLeavesNewBoxesAsTheyAre(t *testing.T) {
	t.Parallel()
	f := open(t)
	_, err := f.DB().ExecContext(t.Context(), `DROP TABLE postbag__once; DROP TABLE postbag__consumer; DROP TABLE postbag__forgetting; DROP TABLE postbag__lane; DROP TABLE postbag__removed; DROP TABLE postbag__pause; DROP TABLE postbag__leftover; DROP TABLE postbag__operation; DROP TABLE postbag__operation_part; DROP TABLE postbag__error_note; DROP TRIGGER postbag__scheduled_number;
		ALTER TABLE postbag__subscription DROP COLUMN takes; ALTER TABLE postbag__subscription DROP COLUMN types_by; ALTER TABLE postbag__subscription DROP COLUMN wanted_by; DROP INDEX postbag__parked_waiting; ALTER TABLE postbag__subscription DROP COLUMN replay; ALTER TABLE postbag__subscription DROP COLUMN settings; UPDATE postbag__meta SET version = 4`)
	f.check(err)
	for _, column := range []string{"keep_delivered", "keep_discarded", "keep_dead", "deployed_delivered", "deployed_discarded", "deployed_dead", "deployed_at", "deployed_by", "slots"} {
		_, err := f.DB().ExecContext(t.Context(), `ALTER TABLE postbag__box DROP COLUMN `+column)
		f.check(err)
	}
	if done, err := f.Migrate(t.Context()); err != nil || len(done) != 15 {
		t.Fatalf("it takes the steps %v (error: %v)", done, err)
	}
	var triggers int
	f.check(f.DB().QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%tight'`).Scan(&triggers))
	if triggers != 0 {
		t.Errorf("a new box has %d triggers more", triggers)
	}
	o, err := f.Overview(t.Context()) // and a box of before has the default retention
	f.check(err)
	if r := o.Boxes[0].Retention; r == nil || *r != (store.BoxRetention{}) {
		t.Errorf("a box that was made before boxes held their retention has %+v", r)
	}
}
