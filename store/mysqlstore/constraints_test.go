package mysqlstore_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store/mysqlstore"
)

// notJSON are headers that RFC 8259 does not know. MariaDB's JSON_VALID takes some of them.
var notJSON = []string{
	`{"path":"C:\queue"}`, `{"a":1.}`, `{"a":01}`, `{"a":.5}`, `{"a":+1}`, `{"a":1e}`, `{"a":NaN}`, `{"a":tru}`, `{"a":[1,]}`, `{"a":"b",}`,
	"{\"a\":\"\n\"}", "{\"a\":\"\x01\"}", `{"a":"\u12"}`, `{"a":"\x41"}`, `{a:'b'}`, `{"a":"b"} x`, "{}\x00", `[]`, `"a"`, ``, `{`, `{"a"}`,
	`{"a":"b" "c":"d"}`, `{"a":"\"}`, `{"a":` + strings.Repeat("[", 20000) + `}`, `{"a":"` + strings.Repeat(`\n`, 32000) + `\q"}`, "\ufeff{}",
}

// goodJSON are headers that every box takes, 64 KiB of them in several forms.
var goodJSON = []string{
	`{}`, " {\n} ", `{"a":"b"}`, `{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}`, `{"é😀":"ü` + "\x7f\u2028" + `"}`, "{\"a\" : \"b\" ,\t\"c\":\"d\"}",
	`{"a":1,"b":-0.5e+10,"c":[1,{},[ ]],"d":{"x":null},"e":true,"f":false}`,
	`{"a":"` + strings.Repeat("x", 65528) + `"}`, `{"a":"` + strings.Repeat("é", 32764) + `"}`, `{"a":"` + strings.Repeat(`x\n`, 21840) + `"}`,
	`{"a":"` + strings.Repeat(`\u00e9`, 10920) + `"}`, `{` + strings.Repeat(`"k":"v",`, 8190) + `"k":"v"}`, `{"a":[` + strings.Repeat("[],", 21000) + `1]}`,
}

// holdsToJSON fails the test unless the box takes the headers that are JSON, and no others.
func (s *testBox) holdsToJSON() {
	s.Helper()
	const insert = "INSERT INTO postbag_outbox (topic, headers, payload) VALUES ('t', ?, 'p')"
	for _, headers := range goodJSON {
		s.exec(insert, headers)
	}
	for _, headers := range notJSON {
		if _, err := s.plain.ExecContext(s.Context(), insert, headers); err == nil {
			s.Errorf("it takes the headers %.40q", headers)
		}
	}
	for _, record := range s.Deliver() {
		if record.Err != nil {
			s.Errorf("what it takes cannot be read: %v", record.Err)
		}
	}
}

func TestABoxRefusesHeadersThatReadersCannotParse(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.holdsToJSON()
		if info, err := s.Check(t.Context()); err != nil || strings.Contains(strings.Join(info.Warnings, "\n"), "looser") {
			t.Errorf("of a new box it says %q (error: %v)", info.Warnings, err)
		}
	})
}

// A box of an older version is told of, and the documented statement makes it as a new one is.
func TestABoxWithLooseConstraintsIsReportedAndCanBeTightened(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/mysql.md")
	if err != nil {
		t.Fatal(err)
	}
	statements := regexp.MustCompile(`(?s)ALTER TABLE postbag_outbox DROP [^;]+;`).FindAllString(string(page), -1)
	if len(statements) != 2 {
		t.Fatalf("the reference has %d statements, want one for MySQL and one for MariaDB", len(statements))
	}
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		drop, statement := "", statements[0]
		if !k.oracle {
			drop, statement = ", DROP CONSTRAINT postbag_outbox__json", statements[1]
		}
		s.exec(`ALTER TABLE postbag_outbox DROP CONSTRAINT postbag_outbox__payload, DROP CONSTRAINT postbag_outbox__headers` + drop)
		s.exec(`ALTER TABLE postbag_outbox ADD CONSTRAINT postbag_outbox__headers CHECK (
	headers IS NULL OR LENGTH(headers) <= 1048576 AND JSON_VALID(headers) AND JSON_TYPE(headers) = 'OBJECT')`)
		s.publish(boxtest.Messages(3, "a")...)
		info, err := s.Check(t.Context())
		s.Must(err)
		if !strings.Contains(strings.Join(info.Warnings, "\n"), "box outbox has the looser constraints of an older version") {
			t.Errorf("it says %q", info.Warnings)
		}
		s.exec(statement)
		info, err = s.Check(t.Context())
		s.Must(err)
		if strings.Contains(strings.Join(info.Warnings, "\n"), "looser") {
			t.Errorf("after %s it says %q", statement, info.Warnings)
		}
		s.holdsToJSON()
	})
}

// loosen gives the box the constraints of an older version.
func (s *testBox) loosen(k *kind) {
	s.Helper()
	drop := ""
	if !k.oracle {
		drop = ", DROP CONSTRAINT postbag_outbox__json"
	}
	s.exec(`ALTER TABLE postbag_outbox DROP CONSTRAINT postbag_outbox__payload, DROP CONSTRAINT postbag_outbox__headers` + drop)
	s.exec(`ALTER TABLE postbag_outbox ADD CONSTRAINT postbag_outbox__headers CHECK (headers IS NULL OR LENGTH(headers) <= 1048576)`)
}

// Constraints that leave out all that is as old as such a row would leave out everything, and nobody would be told.
func TestABoxIsNotTightenedAroundARowWithATimeToCome(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, k *kind) {
		t.Helper()
		s := newTestBox(t, k)
		s.loosen(k)
		s.exec("INSERT INTO postbag_outbox (topic, headers, payload, at) VALUES ('t', '[', 'p', 9000000000000000000)")
		if done, err := s.Migrate(t.Context()); err != nil || len(done) > 0 {
			t.Errorf("the migration did %q (error: %v)", done, err)
		}
		if info, err := s.Check(t.Context()); err != nil || !strings.Contains(strings.Join(info.Warnings, "\n"), "looser") {
			t.Errorf("it says %q (error: %v)", info.Warnings, err)
		}
	})
}

// A statement that a server cannot read would be left out as one that cannot be done.
func TestTheStatementThatTightensABoxIsWhole(t *testing.T) {
	t.Parallel()
	text, err := mysqlstore.Tightenings("orders", "at <= 7 OR ")
	if err != nil || strings.Contains(text, "$") {
		t.Errorf("something is left open in %s (error: %v)", text, err)
	}
	for _, part := range []string{"headers", "json", "payload"} {
		if n := strings.Count(text, "ADD CONSTRAINT postbag_orders__"+part+" CHECK (at <= 7 OR "); n != 1 {
			t.Errorf("it adds %s %d times: %s", part, n, text)
		}
	}
}

// Rows of before that break the constraints stay, and are read as what they are.
func TestAMigrationTightensABoxOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		t.Run(map[bool]string{false: "all rows are good", true: "a row breaks them"}[broken], func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, k *kind) {
				t.Helper()
				s := newTestBox(t, k)
				s.loosen(k)
				s.publish(boxtest.Messages(3, "a")...)
				want := 3
				if broken {
					s.exec("INSERT INTO postbag_outbox (topic, headers, payload) VALUES ('t', '[', 'p')")
					want++
				}
				for n, names := range []string{"constraints of box outbox", ""} {
					if done, err := s.Migrate(t.Context()); err != nil || strings.Join(done, ", ") != names {
						t.Errorf("migration %d did %q (error: %v)", n+1, done, err)
					}
				}
				if info, err := s.Check(t.Context()); err != nil || strings.Contains(strings.Join(info.Warnings, "\n"), "looser") {
					t.Errorf("it says %q (error: %v)", info.Warnings, err)
				}
				var refused int
				got := s.Deliver()
				for _, r := range got {
					if r.Err != nil {
						refused++
					}
				}
				if len(got) != want || refused != want-3 {
					t.Errorf("%d messages come, %d of them undecodable", len(got), refused)
				}
				s.holdsToJSON()
				if n := s.number("SELECT COUNT(*) FROM postbag_outbox WHERE headers = '['"); n != int64(want-3) {
					t.Errorf("%d rows of before are left", n)
				}
			})
		})
	}
}
