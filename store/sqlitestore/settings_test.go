package sqlitestore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

func TestBadOptionsAreAllNamedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := sqlitestore.Open(t.Context(), "", sqlitestore.Options{
		Boxes: []string{"Orders", "a b", "select", "a__b"}, BusyTimeout: -1, LargeWAL: -1,
	})
	if err == nil {
		t.Fatal("everything was taken")
	}
	for _, want := range []string{
		`"Orders"`, `"a b"`, `"select"`, `"a__b"`, "Options.Create; set it", "Options.BusyTimeout", "Options.LargeWAL", "the path is empty",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not speak of %s:\n%v", want, err)
		}
	}
}

func TestAFileThatCannotBeOpenedSaysWhy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		":memory:":                          "give a file's plain path",
		"file:x.db?mode=ro":                 "give a file's plain path",
		"a\x00b":                            "NUL",
		filepath.Join(dir, "missing"):       "no such file",
		filepath.Join(dir, "no", "such.db"): "no such file",
		text:                                "no database",
		empty:                               "postbag migrate up",
		filepath.Join(text, "below-a-file"): "not a directory",
	} {
		s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
		if err == nil {
			t.Errorf("opening %q succeeded", path)
			_ = s.Close()
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("opening %q: %v, want an error with %q", path, err, want)
		}
	}
}

func TestAPathMayHaveAnyCharacters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "100%.db", "what?.db", "a#b.db", "käse.db", "x&y=z.db", "%41.db"} {
		path := filepath.Join(t.TempDir(), name)
		openAt(t, path, sqlitestore.Options{Create: true})
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%v", err)
		}
	}
}

func TestUnsafeSettingsOfAnApplicationsDBAreRefused(t *testing.T) {
	t.Parallel()
	const good = "_busy_timeout=5000&_journal_mode=WAL&_synchronous=FULL"
	for name, c := range map[string]struct{ query, want string }{
		"as DSN has it":         {good, ""},
		"extra":                 {"_busy_timeout=5000&_journal_mode=WAL&_synchronous=EXTRA", ""},
		"without a log":         {"_busy_timeout=5000&_journal_mode=DELETE&_synchronous=FULL", "journal_mode is delete"},
		"with normal sync":      {"_busy_timeout=5000&_journal_mode=WAL&_synchronous=NORMAL", "synchronous is 1"},
		"with sync off":         {"_busy_timeout=5000&_journal_mode=WAL&_synchronous=OFF", "synchronous is 0"},
		"without a busy time":   {"_journal_mode=WAL", "busy_timeout is not set"},
		"with nothing at all":   {"_pragma=cache_size(100)", "journal_mode"},
		"in another encoding":   {good + "&_pragma=encoding('UTF-16')", "encoding"},
		"in memory":             {"mode=memory&cache=shared&" + good, "in memory"},
		"that only reads":       {"mode=ro&" + good, ""},
		"with a locking of one": {good + "&_pragma=cache_spill(off)", ""},
	} {
		t.Run("a database "+name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.db")
			if strings.Contains(c.query, "mode=ro") {
				openAt(t, path, sqlitestore.Options{Create: true})
			}
			o := sqlitestore.Options{Create: !strings.Contains(c.query, "mode=ro")}
			_, err := openOver(t, openDSN(t, "file:"+path+"?"+c.query), o)
			switch {
			case err == nil && c.want != "":
				t.Fatalf("it was taken; want an error with %q", c.want)
			case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("%v, want an error with %q", err, c.want)
			}
		})
	}
}

// What else an application may set on its connections bends none of the store's statements.
func TestSettingsOfAnApplicationChangeNoStatement(t *testing.T) {
	t.Parallel()
	for _, pragma := range []string{
		"recursive_triggers(on)", "foreign_keys(on)", "reverse_unordered_selects(on)", "case_sensitive_like(on)", "trusted_schema(off)",
		"cell_size_check(on)", "secure_delete(on)", "locking_mode(normal)", "automatic_index(off)", "temp_store(2)", "legacy_alter_table(on)",
		"wal_autocheckpoint(0)", "analysis_limit(1)", "defer_foreign_keys(on)", "count_changes(on)", "full_column_names(on)", "short_column_names(off)",
	} {
		t.Run(pragma, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.db")
			f, err := openOver(t, openDSN(t, sqlitestore.DSN(path)+"&_pragma="+pragma), sqlitestore.Options{Create: true, Boxes: []string{"outbox"}})
			if err != nil {
				t.Fatal(err)
			}
			f.check(f.Declare(t.Context(), []store.Spec{{Ref: outbox, Shards: 1}}))
			lease := f.lease(outbox)
			f.publish(messages(20, "a", "b")...)
			batch := f.read("", 100)
			if len(batch.Records) != 20 {
				t.Fatalf("of 20 messages %d come", len(batch.Records))
			}
			for i, r := range batch.Records {
				if r.Seq != int64(i+1) || r.Err != nil {
					t.Errorf("message %d has seq %d, error %v", i, r.Seq, r.Err)
				}
			}
			f.settle(&lease, store.Settlement{To: batch.Next})
			if _, err := f.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if err := f.Exec(t.Context(), "REPLACE INTO postbag_outbox (seq, topic, payload) VALUES (5, 't', '')"); err == nil {
				t.Error("a message is replaced")
			}
		})
	}
}

// A connection that may only read is told from the others.
func TestAQueryOnlyConnectionIsRefused(t *testing.T) {
	t.Parallel()
	f := open(t)
	s, err := openOver(t, openDSN(t, sqlitestore.DSN(f.path)+"&_pragma=query_only(on)"), sqlitestore.Options{})
	if err == nil {
		_, err = s.Check(t.Context())
	}
	if !errors.Is(err, store.ErrStandby) {
		t.Errorf("it is taken with %v, want ErrStandby", err)
	}
}

func TestASettingOfOneConnectionAloneIsNoticed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDSN(t, "file:"+path+"?_journal_mode=WAL&_synchronous=FULL")
	if _, err := db.ExecContext(t.Context(), `PRAGMA busy_timeout = 5000`); err != nil {
		t.Fatal(err)
	}
	_, err := openOver(t, db, sqlitestore.Options{Create: true})
	if err == nil || !strings.Contains(err.Error(), "every connection") {
		t.Fatalf("a busy_timeout that one connection has was taken: %v", err)
	}
}

func TestAFileThatCannotBeWrittenIsAStandby(t *testing.T) {
	t.Parallel()
	f := open(t)
	db := openDSN(t, "file:"+f.path+"?mode=ro&_busy_timeout=5000&_synchronous=FULL")
	s, err := openOver(t, db, sqlitestore.Options{})
	f.check(err)
	if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrStandby) {
		t.Errorf("Check returned %v, want ErrStandby", err)
	}
	if _, err := s.Beat(t.Context(), beat("r1")); !errors.Is(err, store.ErrStandby) {
		t.Errorf("Beat returned %v, want ErrStandby", err)
	}
}

func TestAStoreOverOneConnectionWorks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openSQL(t, path)
	db.SetMaxOpenConns(1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	f, err := openOver(t, db, sqlitestore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	f.declare(store.Spec{Ref: outbox})
	lease := f.lease(outbox)
	f.publish(messages(5, "k")...)
	f.settle(&lease, store.Settlement{To: f.read("", 3).Next})
	if _, err := f.Check(ctx); err != nil {
		t.Error(err)
	}
	if _, _, err := f.List(ctx, store.Query{Ref: outbox}); err != nil {
		t.Error(err)
	}
	if _, err := f.Overview(ctx); err != nil {
		t.Error(err)
	}
	m := f.lease(store.Ref{Box: "outbox", Subscription: store.Maintenance})
	if _, err := f.Maintain(ctx, store.Retention{Lease: m, Keep: time.Nanosecond}); err != nil {
		t.Error(err)
	}
}

func TestAnApplicationsBusyTimeoutIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openSQL(t, path)
	db.SetMaxOpenConns(1)
	f, err := openOver(t, db, sqlitestore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	f.publish(messages(1, "k")...)
	f.declare(store.Spec{Ref: outbox})
	var millis int
	f.check(db.QueryRowContext(t.Context(), `PRAGMA busy_timeout`).Scan(&millis))
	if millis != 5000 {
		t.Errorf("busy_timeout is %d ms now, it was 5000", millis)
	}
}

func TestAClosedStoreReturnsErrors(t *testing.T) {
	t.Parallel()
	s, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), sqlitestore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{request("", 1)}}); err == nil {
		t.Error("a closed store reads")
	}
	if _, err := s.Beat(t.Context(), beat("r1")); err == nil {
		t.Error("a closed store writes")
	}
	if s.Woken() == nil {
		t.Error("a closed store has no channel of hints")
	}
}

func TestAFullDiskIsReportedAndLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	db := openDSN(t, sqlitestore.DSN(path)+"&_pragma=max_page_count(120)")
	f, err := openOver(t, db, sqlitestore.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	f.declare(store.Spec{Ref: outbox})
	committed := 0
	for err == nil {
		err = f.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			return f.Append(ctx, tx, "outbox", messages(100, "k"))
		})
		if err == nil {
			committed += 100
		}
	}
	if !strings.Contains(err.Error(), "the disk is full") || errors.Is(err, postbag.ErrCommitUnknown) {
		t.Errorf("on a full disk: %v", err)
	}
	if got := len(f.readAll("")); got != committed || committed == 0 {
		t.Errorf("%d messages are there, %d were committed", got, committed)
	}
}

func TestSQLiteVersionsThatCorruptTheWALAreRefused(t *testing.T) {
	t.Parallel()
	for version, safe := range map[string]bool{
		"3.40.1": false, "3.50.9": false, "3.51.2": false, "3.51.3": true, "3.52.0": false, "3.53.0": true, "3.54.1": true,
		"4.0.0": true, "2.8.17": false, "": false, "three": false,
	} {
		if sqlitestore.SafeLibrary(version) != safe {
			t.Errorf("version %q: it is taken: %v", version, !safe)
		}
	}
}
