package mysqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

func TestALogThatWasEmptiedIsReadFromItsBeginning(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(boxtest.Messages(20, "a", "b")...)
		s.Deliver()
		s.exec("TRUNCATE TABLE postbag_outbox")
		fresh := s.publish(boxtest.Messages(5, "a")...)
		if _, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{request(s.At, 10)}}); !errors.Is(err, store.ErrMoved) {
			t.Errorf("a read from beyond the end of the log: %v, not ErrMoved", err)
		}
		if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
			t.Fatalf("a check: %v, not ErrMoved", err)
		}
		if _, err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.At = s.position(outbox)
		s.want(s.Read(), fresh...)
	})
}

func TestAReplacedTableIsNoticedByItsMissingRow(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.publish(boxtest.Messages(10, "a")...)
		s.Deliver()
		s.Eventually("rows are deleted, and the last one noted", func() bool { s.Housekeep(); return s.Total.Deleted > 0 })
		s.exec("TRUNCATE TABLE postbag_outbox")
		fresh := s.publish(boxtest.Messages(30, "a")...) // more than there were: the end alone tells nothing
		if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
			t.Fatalf("a check: %v, not ErrMoved", err)
		}
		s.At = s.position(outbox)
		s.want(s.Read(), fresh...)
	})
}

func TestAReadOnlyServerIsAStandby(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := testBoxOn(t, databaseOn(t, k.private(t), "standby"))
		s.exec("SET GLOBAL read_only = 1")
		if _, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{request("", 10)}}); !errors.Is(err, store.ErrStandby) {
			t.Errorf("a read: %v, not ErrStandby", err)
		}
		if _, err := s.Check(t.Context()); !errors.Is(err, store.ErrStandby) {
			t.Errorf("a check: %v, not ErrStandby", err)
		}
		s.exec("SET GLOBAL read_only = 0")
		s.publish(boxtest.Messages(1, "a")...)
		if n := len(s.Read()); n != 1 {
			t.Errorf("after it can be written again %d messages come", n)
		}
	})
}

func TestASlowBinaryLogFormatIsRefused(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		dsn := databaseOn(t, k.private(t, "binlog-format=STATEMENT"), "statement")
		_, err := mysqlstore.Open(t.Context(), dsn, mysqlstore.Options{Create: true})
		if err == nil || !strings.Contains(err.Error(), "binlog_format = ROW") {
			t.Errorf("opened with %v", err)
		}
	})
}

func TestUnsafeServerSettingsAreWarnedOf(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := testBoxOn(t, databaseOn(t, k.private(t, "auto-increment-increment=3"), "weak")) // it is NoSync too
		info, err := s.Check(t.Context())
		s.Must(err)
		all := strings.Join(info.Warnings, "\n")
		for _, name := range []string{"innodb_flush_log_at_trx_commit", "sync_binlog", "auto_increment_increment"} {
			if !strings.Contains(all, name) {
				t.Errorf("nothing is said of %s: %q", name, info.Warnings)
			}
		}
		want := s.publish(boxtest.Messages(10, "a")...)
		s.burn()
		want = append(want, s.publish(boxtest.Messages(10, "a")...)...)
		s.want(s.Deliver(), want...)
	})
}

func TestAPlainInsertPublishesAndAnEmptyOneIsAnError(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		conn, err := s.plain.Conn(t.Context())
		s.Must(err)
		for _, text := range []string{ // whose clock shows another hour
			"SET SESSION time_zone = '+08:00'", "INSERT INTO postbag_outbox (topic, `key`, payload) VALUES ('t', 'k', 'p'), ('t', '', 'q')",
		} {
			_, err = conn.ExecContext(t.Context(), text)
			s.Must(err)
		}
		s.Must(conn.Close())
		got := s.Read()
		if len(got) != 2 || got[0].Slot != 2085 || got[0].Key != "k" || got[0].ID[6]>>4 != 7 || got[0].ID[8]>>6 != 2 {
			t.Fatalf("what came is %+v", got)
		}
		if d := time.Since(got[0].At); d < -time.Minute || d > time.Minute {
			t.Errorf("it was stored %s ago", d)
		}
		if id := got[1].Message; got[1].Slot != store.SlotOf(&id) {
			t.Errorf("the slot of a message without a key is %d, not that of its id", got[1].Slot)
		}
		for what, text := range map[string]string{
			"zero values":         "INSERT INTO postbag_outbox (id, at, topic, `key`, shard_key, type, payload) VALUES ('', 0, '', '', '', '', '')",
			"no topic":            "INSERT INTO postbag_outbox (topic, payload) VALUES ('', 'p')",
			"a zero id":           "INSERT INTO postbag_outbox (id, topic, payload) VALUES (x'00', 't', 'p')",
			"headers of no kind":  "INSERT INTO postbag_outbox (topic, headers, payload) VALUES ('t', '{bad', 'p')",
			"a list of headers":   "INSERT INTO postbag_outbox (topic, headers, payload) VALUES ('t', '[1]', 'p')",
			"a slot of one's own": "INSERT INTO postbag_outbox (topic, slot, payload) VALUES ('t', 7, 'p')",
			"a long key":          "INSERT INTO postbag_outbox (topic, `key`, payload) VALUES ('t', REPEAT('k', 1025), 'p')",
		} {
			for _, mode := range []string{"STRICT_ALL_TABLES", ""} {
				conn, err := s.plain.Conn(t.Context())
				s.Must(err)
				_, err = conn.ExecContext(t.Context(), "SET SESSION sql_mode = '"+mode+"'")
				s.Must(err)
				_, err = conn.ExecContext(t.Context(), text)
				// MariaDB's loose mode leaves a value for a generated column out.
				if err == nil && (mode != "" || !strings.Contains(what, "slot")) {
					t.Errorf("%s, with sql_mode %q, is taken", what, mode)
				}
				s.Must(conn.Close())
			}
		}
	})
}

func TestAnApplicationsOwnDBPublishesWithEveryDriverSetting(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		for _, params := range []string{"", "?interpolateParams=true", "?sql_mode=%27NO_BACKSLASH_ESCAPES%27", "?charset=latin1&interpolateParams=true"} {
			db := openSQL(t, s.dsn+params)
			d, err := mysqlstore.OpenAppender(t.Context(), db, mysqlstore.AppenderOptions{})
			s.Must(err)
			pub, err := postbag.NewPublisher[postbag.SQLTx](d, postbag.PublisherOptions{})
			s.Must(err)
			m := postbag.Message{ID: postbag.NewID(), Key: "Schlüssel'\\\"?", Payload: []byte("\x00'\\\"?\xff"), Headers: map[string]string{"h": "ä'\\\"?"}}
			later := postbag.Message{ID: postbag.NewID(), Key: m.Key, Payload: m.Payload, Headers: m.Headers, NotBefore: time.Now().Add(time.Hour)}
			s.Must(pub.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
				return pub.PublishOrdered(ctx, tx, m, later)
			}))
			got := s.Read()
			if len(got) != 1 || got[0].Key != m.Key || string(got[0].Payload) != string(m.Payload) || got[0].Headers["h"] != m.Headers["h"] || got[0].Topic != "outbox" {
				t.Fatalf("with %q %+v came", params, got)
			}
			tx, err := db.BeginTx(t.Context(), &sql.TxOptions{})
			s.Must(err)
			if there, err := pub.Cancel(t.Context(), tx, later.ID); err != nil || !there {
				t.Errorf("with %q the scheduled message could not be cancelled: %v", params, err)
			}
			s.Must(tx.Commit())
		}
	})
}

func TestAMessageTooLargeForTheServerIsRefusedBeforeAnySQL(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := testBoxOn(t, databaseOn(t, k.private(t, "max-allowed-packet=4194304"), "small"))
		info, err := s.Check(t.Context())
		s.Must(err)
		largest := postbag.Message{ID: postbag.NewID(), Topic: "t", Payload: make([]byte, info.MaxMessage)}
		s.want(append(s.Read(), func() []store.Record { s.publish(largest); return s.Read() }()...), largest)
		largest.Payload = make([]byte, 4<<20)
		err = s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			refused := s.Append(ctx, tx, "outbox", append(boxtest.Messages(1, "a"), largest))
			if of, ok := errors.AsType[*postbag.MessageError](refused); !ok || of.Index != 1 || of.Allowed != info.MaxMessage || !strings.Contains(refused.Error(), "max_allowed_packet") {
				t.Errorf("a payload of 4 MiB: %v", refused)
			}
			return s.Append(ctx, tx, "outbox", boxtest.Messages(1, "a")) // the transaction is as it was
		})
		s.Must(err)
		// Many messages that only together are too large take several statements.
		many := boxtest.Messages(20, "a")
		for i := range many {
			many[i].Payload = make([]byte, 300_000)
		}
		s.publish(many...)
		if n := len(s.Read()); n != 21 {
			t.Errorf("%d messages came, and not 21", n)
		}
		s.receivesTooLarge(t)
	})
}

func TestErrorsQuoteNoValueOfAMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		err := s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			return s.Append(ctx, tx, "nobox", []postbag.Message{{ID: postbag.NewID(), Topic: "t", Key: "secret", Payload: []byte("secret")}})
		})
		if !errors.Is(err, store.ErrNoBox) || strings.Contains(err.Error(), "secret") {
			t.Errorf("an append to a box that is not there: %v", err)
		}
		s.exec("CREATE TRIGGER quoting BEFORE INSERT ON postbag_outbox FOR EACH ROW BEGIN DECLARE said VARCHAR(100); " +
			"SET said = CONCAT('refused: ', NEW.`key`); SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = said; END")
		err = s.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			return s.Append(ctx, tx, "outbox", []postbag.Message{{ID: postbag.NewID(), Topic: "t", Key: "secret", Payload: []byte("secret")}})
		})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("an append that a trigger refuses: %v", err)
		}
		config, err := mysql.ParseDSN(s.dsn)
		s.Must(err)
		_, err = mysqlstore.Open(t.Context(), strings.Replace(s.dsn, config.Passwd, "wrong-password", 1), mysqlstore.Options{})
		if err == nil || strings.Contains(err.Error(), "wrong-password") {
			t.Errorf("a login with a wrong password: %v", err)
		}
	})
}

func TestMigratingAgainAndBySeveralAtOnceChangesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		dsn := k.database(t)
		unmigrated := func(o *mysqlstore.Options) { o.Create, o.Boxes, o.Unmigrated = false, nil, true }
		f := newFixture(t, dsn, unmigrated)
		if version, steps, err := f.Pending(t.Context()); err != nil || version != 0 || len(steps) == 0 {
			t.Fatalf("an empty database has version %d and %d steps to go: %v", version, len(steps), err)
		}
		if _, err := mysqlstore.Open(t.Context(), dsn, mysqlstore.Options{}); !errors.Is(err, store.ErrSchema) {
			t.Errorf("a store is opened without a schema: %v", err)
		}
		errs := make(chan error, 6)
		for range cap(errs) {
			go func() {
				_, err := f.Migrate(t.Context())
				errs <- errors.Join(err, f.CreateBox(t.Context(), "outbox"))
			}()
		}
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if version, steps, err := f.Pending(t.Context()); err != nil || version == 0 || len(steps) > 0 {
			t.Errorf("after that it has version %d and %d steps to go: %v", version, len(steps), err)
		}
		if done, err := f.Migrate(t.Context()); err != nil || len(done) > 0 {
			t.Errorf("another time takes %v: %v", done, err)
		}
	})
}

func TestAnAppenderWakesTheRelayOfItsProcess(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		woken := make(chan string, 1)
		d, err := mysqlstore.OpenAppender(t.Context(), openSQL(t, s.dsn), mysqlstore.AppenderOptions{Wake: func(box string) { woken <- box }})
		s.Must(err)
		pub, err := postbag.NewPublisher[postbag.SQLTx](d, postbag.PublisherOptions{})
		s.Must(err)
		s.Must(pub.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
			return pub.Publish(ctx, tx, postbag.Message{Topic: "t"})
		}))
		select {
		case box := <-woken:
			if box != "outbox" {
				t.Errorf("box %q was woken", box)
			}
		case <-t.Context().Done():
			t.Error("nobody was woken")
		}
	})
}
