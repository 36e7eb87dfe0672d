package sqlitestore_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

func TestAPlainInsertSetsEveryField(t *testing.T) {
	t.Parallel()
	f := open(t)
	before := time.Now().Truncate(time.Millisecond)
	f.check(f.Exec(t.Context(), `INSERT INTO postbag_outbox (topic, key, payload) VALUES ('orders', 'customer 7', x'00ff01')`))
	got := f.readAll("")
	if len(got) != 1 {
		t.Fatalf("read %d messages, want 1", len(got))
	}
	r := got[0]
	want := postbag.Message{ID: r.ID, Topic: "orders", Key: "customer 7", Payload: []byte{0, 0xff, 1}}
	if !r.Equal(want) || r.Slot != store.SlotOf(&want) || r.Hash != store.KeyHash("customer 7") {
		t.Errorf("it came as %+v", r)
	}
	if r.ID[6]>>4 != 7 || r.ID[8]>>6 != 2 {
		t.Errorf("the id %x is no UUID of version 7", r.ID)
	}
	drawn := time.UnixMilli(int64(binary.BigEndian.Uint64(append([]byte{0, 0}, r.ID[:6]...))))
	for what, at := range map[string]time.Time{"the id's time": drawn, "the time": r.At} {
		if at.Before(before.Add(-time.Millisecond)) || at.After(time.Now().Add(time.Millisecond)) {
			t.Errorf("%s is %s, and it was inserted between %s and now", what, at, before)
		}
	}
}

func TestDefaultIDsAreUnique(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.check(f.Exec(t.Context(), `INSERT INTO postbag_outbox (payload)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT 'p' FROM n`))
	seen := make(map[postbag.ID]bool)
	for _, r := range f.readAll("") {
		if seen[r.ID] || r.ID[6]>>4 != 7 || r.ID[8]>>6 != 2 {
			t.Fatalf("the id %x comes twice, or is no UUID of version 7", r.ID)
		}
		seen[r.ID] = true
	}
	if len(seen) != 2000 {
		t.Fatalf("there are %d ids", len(seen))
	}
}

func TestAMinimalInsertTakesItsDefaults(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.check(f.Exec(t.Context(), `INSERT INTO postbag_outbox (payload) VALUES ('text is taken as its bytes')`))
	f.check(f.Exec(t.Context(), `INSERT INTO postbag_outbox (payload, headers) VALUES ('', '{"a": "ä", "b": 1, "c": null, "d\n": "\u0041"}')`))
	got := f.readAll("")
	if len(got) != 2 {
		t.Fatalf("read %d messages, want 2", len(got))
	}
	want := postbag.Message{ID: got[0].ID, Topic: "outbox", Payload: []byte("text is taken as its bytes")}
	if !got[0].Equal(want) {
		t.Errorf("the first came as %+v", got[0])
	}
	want = postbag.Message{
		ID: got[1].ID, Topic: "outbox",
		Headers: map[string]string{"a": "ä", "b": "1", "c": "null", "d\n": "A"},
	}
	if !got[1].Equal(want) {
		t.Errorf("the second came as %+v", got[1])
	}
}

func TestInsertsWithInvalidColumnsAreRefused(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.publish(messages(3, "k")...)
	f.check(f.Exec(t.Context(), `DELETE FROM postbag_outbox WHERE seq = 2`))
	long := strings.Repeat("x", 1025)
	for _, c := range []struct{ why, statement string }{
		{"leave seq out of the INSERT", `INSERT INTO postbag_outbox (seq, payload) VALUES (0, 'p')`},
		{"leave seq out of the INSERT", `INSERT INTO postbag_outbox (seq, payload) VALUES (2, 'p')`},
		{"leave seq out of the INSERT", `INSERT OR REPLACE INTO postbag_outbox (seq, payload) VALUES (3, 'p')`},
		{"leave seq out of the INSERT", `INSERT INTO postbag_outbox (seq, payload) VALUES (-5, 'p')`},
		{"leave seq out of the INSERT", `INSERT INTO postbag_outbox (seq, payload) VALUES (9223372036854775807, 'p')`},
		{"cannot be changed", `UPDATE postbag_outbox SET payload = 'q' WHERE seq = 1`},
		{"cannot be changed", `UPDATE postbag_outbox SET seq = seq + 100`},
		{"id is 16 bytes", `INSERT INTO postbag_outbox (id, payload) VALUES (zeroblob(16), 'p')`},
		{"id is 16 bytes", `INSERT INTO postbag_outbox (id, payload) VALUES ('0123456789abcdef', 'p')`},
		{"id is 16 bytes", `INSERT INTO postbag_outbox (id, payload) VALUES (randomblob(15), 'p')`},
		{"NOT NULL", `INSERT INTO postbag_outbox (id, payload) VALUES (NULL, 'p')`},
		{"postbag_outbox.payload", `INSERT INTO postbag_outbox (topic) VALUES ('t')`},
		{"payload is a blob", `INSERT INTO postbag_outbox (payload) VALUES (7)`},
		{"payload is a blob or text, 16 MiB at most", `INSERT INTO postbag_outbox (payload) VALUES (zeroblob(16777217))`},
		{"headers is a JSON object", `INSERT INTO postbag_outbox (headers, payload) VALUES ('{a:''b''}', 'p')`},
		{"headers is a JSON object", `INSERT INTO postbag_outbox (headers, payload) VALUES ('{}' || char(0) || 'x', 'p')`},
		{"headers is a JSON object", `INSERT INTO postbag_outbox (headers, payload) VALUES ('{"a":"' || hex(zeroblob(32768)) || '"}', 'p')`},
		{"topic is not empty", `INSERT INTO postbag_outbox (topic, payload) VALUES ('', 'p')`},
		{"topic is text", `INSERT INTO postbag_outbox (topic, payload) VALUES (x'41', 'p')`},
		{"key is text", `INSERT INTO postbag_outbox (key, payload) VALUES ('` + long + `', 'p')`},
		{"key is text", `INSERT INTO postbag_outbox (key, payload) VALUES ('a' || char(0), 'p')`},
		{"shard_key is text", `INSERT INTO postbag_outbox (shard_key, payload) VALUES ('` + strings.Repeat("ä", 600) + `', 'p')`},
		{"type is text", `INSERT INTO postbag_outbox (type, payload) VALUES ('` + long + `', 'p')`},
		{"headers is", `INSERT INTO postbag_outbox (headers, payload) VALUES ('["a"]', 'p')`},
		{"headers is a JSON object", `INSERT INTO postbag_outbox (headers, payload) VALUES ('{"a":', 'p')`},
		{"at is an integer", `INSERT INTO postbag_outbox (at, payload) VALUES ('now', 'p')`},
	} {
		err := f.Exec(t.Context(), c.statement)
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.90s: %v, want an error with %q", c.statement, err, c.why)
		}
	}
	if got := f.readAll(""); len(got) != 2 {
		t.Errorf("there are %d messages now, want the 2 of before", len(got))
	}
}

func TestASeqIsNeverReused(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.publish(messages(3, "k")...)
	next := f.read("", 10).Next
	f.check(f.Exec(t.Context(), `DELETE FROM postbag_outbox`))
	f.publish(messages(1, "later")...)
	if got := f.readAll(next); len(got) != 1 || got[0].Seq != 4 {
		t.Fatalf("after the position comes %v, want seq 4", got)
	}
}

const pythonProducer = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=30)
with db:
    for n in range(100):
        db.execute("INSERT INTO postbag_outbox (topic, key, payload) VALUES (?, ?, ?)",
                   ("orders", "k%d" % (n % 7), bytes([n, 0, 255 - n])))
with db:
    db.execute("INSERT INTO postbag_outbox (payload, headers, type) VALUES (?, ?, ?)",
               ("grüße", '{"a": "\\u00e4"}', "greeting"))
try:
    with db:
        db.execute("INSERT INTO postbag_outbox (id, payload) VALUES (zeroblob(16), 'p')")
    sys.exit("a zero id was taken")
except sqlite3.IntegrityError:
    pass
db.close()
`

func TestPythonPublishesWithItsOwnLibrary(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("python3 is not installed; install it to test its producer")
	}
	f := open(t)
	f.check(err)
	out, err := exec.CommandContext(t.Context(), python, "-c", pythonProducer, f.path).CombinedOutput()
	if err != nil {
		t.Fatalf("the producer failed: %v\n%s", err, out)
	}
	got := f.readAll("")
	if len(got) != 101 {
		t.Fatalf("read %d messages, want 101", len(got))
	}
	for n, r := range got[:100] {
		if string(r.Payload) != string([]byte{byte(n), 0, byte(255 - n)}) || r.ID[6]>>4 != 7 {
			t.Fatalf("message %d came as %+v", n, r)
		}
	}
	last := got[100]
	if string(last.Payload) != "grüße" || last.Headers["a"] != "ä" || last.Type != "greeting" || last.Topic != "outbox" {
		t.Errorf("the last came as %+v", last)
	}
}
