package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// adoption is a database with a box, and a foreign table beside it.
type adoption struct {
	*foreign
	*place

	t    *testing.T
	pool *pgxpool.Pool
}

func newAdoption(t *testing.T, o *foreign) *adoption {
	t.Helper()
	x := &adoption{foreign: o, place: emptyDatabase(t), t: t}
	cli(t, "migrate", "up", x.flag, x.where, "--box", "outbox").ok()
	pool, err := pgxpool.New(t.Context(), dsnOf(t, x.place).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	x.pool = pool
	x.exec(o.schema)
	return x
}

func (x *adoption) exec(sql string, args ...any) {
	x.t.Helper()
	if _, err := x.pool.Exec(context.Background(), sql, args...); err != nil {
		x.t.Fatalf("%v in:\n%s", err, sql)
	}
}

// one reads one value.
func one[T any](x *adoption, sql string, args ...any) T {
	x.t.Helper()
	var v T
	if err := x.pool.QueryRow(context.Background(), sql, args...).Scan(&v); err != nil {
		x.t.Fatalf("%v in:\n%s", err, sql)
	}
	return v
}

// payloadOf is what row n carries. Both JSON types keep it as it is.
func payloadOf(n int) []byte { return fmt.Appendf(nil, `{"n": %d, "text": "größe \\ ' \""}`, n) }

func keyOf(n int) string { return fmt.Sprintf("customer-%d", n%7) }

// write has old code write rows from first up to, not including, end.
func (x *adoption) write(first, end int) {
	x.t.Helper()
	for n := first; n < end; n++ {
		x.exec(x.insert, x.give(uuidOf(n), keyOf(n), payloadOf(n))...)
	}
}

// adopt runs the command with the original's flags and others.
func (x *adoption) adopt(flags ...string) *outcome {
	x.t.Helper()
	return cli(x.t, append(x.args(), flags...)...)
}

func (x *adoption) args() []string {
	return append([]string{"adopt", x.flag, x.where, "--from", x.from, "--table", x.table}, x.flags...)
}

// boxed is a message as it lies in the box.
type boxed struct {
	id, topic, key, typ, headers string
	payload                      []byte
}

func (x *adoption) box() []boxed {
	x.t.Helper()
	rows, err := x.pool.Query(context.Background(), `SELECT id::text, topic, COALESCE(key, ''), COALESCE(type, ''), COALESCE(headers::text, ''), payload
		FROM postbag.outbox ORDER BY seq`)
	if err != nil {
		x.t.Fatal(err)
	}
	defer rows.Close()
	var out []boxed
	for rows.Next() {
		var b boxed
		if err := rows.Scan(&b.id, &b.topic, &b.key, &b.typ, &b.headers, &b.payload); err != nil {
			x.t.Fatal(err)
		}
		out = append(out, b)
	}
	if rows.Err() != nil {
		x.t.Fatal(rows.Err())
	}
	return out
}

// holds fails the test unless the box has the messages of some rows, in this order,
// each as it was written.
func (x *adoption) holds(want ...int) {
	x.t.Helper()
	got := x.box()
	if len(got) != len(want) {
		x.t.Fatalf("the box has %d messages, want %d", len(got), len(want))
	}
	for i, n := range want {
		key := keyOf(n)
		m := boxed{uuidOf(n), x.topic, key, x.typ, x.wantHeaders(key), payloadOf(n)}
		if x.keyless {
			m.key = "all"
		}
		g := got[i]
		if !sameJSON(g.headers, m.headers) {
			x.t.Errorf("message %d has the headers %s, want %s", i, g.headers, m.headers)
		}
		if !slices.Equal(g.payload, m.payload) && (!x.jsonb || !sameJSON(string(g.payload), string(m.payload))) {
			x.t.Errorf("message %d has the payload %s, want %s", i, g.payload, m.payload)
		}
		g.headers, g.payload, m.headers, m.payload = "", nil, "", nil
		if fmt.Sprint(g) != fmt.Sprint(m) {
			x.t.Errorf("message %d is %v, want %v", i, g, m)
		}
	}
}

func sameJSON(a, b string) bool {
	var x, y map[string]any
	if (a == "" || a == "null") && b == "" {
		return true
	}
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func upto(first, end int) []int {
	var out []int
	for n := first; n < end; n++ {
		out = append(out, n)
	}
	return out
}

func TestAdoptImportsWhatIsUndeliveredOnceAndInOrder(t *testing.T) {
	t.Parallel()
	onEachForeign(t, func(t *testing.T, x *adoption) {
		x.write(0, 1203)
		first := 0
		if x.finish != "" {
			first = 3
			for n := range first {
				x.exec(x.finish, uuidOf(n))
			}
		}
		var v adoptable
		x.adopt("--dry-run", "--json").ok().json(&v)
		if v.Undelivered != 1203-first || v.Convertible != v.Undelivered || v.Other != first || v.Known != 0 {
			t.Errorf("a dry run counts %+v", v.Preview)
		}
		if there := one[bool](x, `SELECT to_regclass('postbag._adoptions') IS NOT NULL`); there || len(x.box()) > 0 {
			t.Fatal("a dry run wrote something")
		}
		var done adopted
		x.adopt("--json").ok().json(&done)
		if done.Imported != 1203-first {
			t.Errorf("it says %+v", done)
		}
		x.holds(upto(first, 1203)...)
		x.adopt().ok().says("imported 0 messages")
		x.write(1203, 1210)
		x.adopt().ok().says("imported 7 messages")
		x.holds(upto(first, 1210)...)
		x.adopt("--dry-run", "--json").ok().json(&v)
		if v.Undelivered != 0 || v.Known != 1210-first {
			t.Errorf("a dry run counts %+v at the end", v.Preview)
		}
	})
}

// What was imported is what a relay delivers.
func TestAdoptedMessagesAreDelivered(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["sbmt-outbox"])
	x.write(0, 20)
	x.adopt().ok()
	out := cli(t, "relay", x.flag, x.where, "--to", "stdout:", "--drain").ok().out
	for n := range 20 {
		if strings.Count(out, uuidOf(n)) != 1 {
			t.Errorf("message %d was not delivered once", n)
		}
	}
}

func TestAdoptLeavesMarksOrDeletesTheOriginals(t *testing.T) {
	t.Parallel()
	for name, o := range foreigns() {
		for _, fate := range []string{"leave", "mark", "delete"} {
			t.Run(name+" "+fate, func(t *testing.T) {
				t.Parallel()
				x := newAdoption(t, o)
				x.write(0, 10)
				table := `"` + x.table + `"`
				if fate == "mark" && (o.finish == "" || name == "watermill") {
					x.adopt("--originals", fate).ends(exit.Usage, "has no column that marks a row as delivered")
					return
				}
				before := one[string](x, `SELECT md5(string_agg(t::text, ',')) FROM `+table+` t`)
				x.adopt("--originals", fate).ok().says("imported 10 messages")
				x.holds(upto(0, 10)...)
				if fate == "delete" {
					if n := one[int](x, `SELECT count(*) FROM `+table); n != 0 {
						t.Errorf("%d rows are left", n)
					}
					return
				}
				changed := before != one[string](x, `SELECT md5(string_agg(t::text, ',')) FROM `+table+` t`)
				if changed != (fate == "mark") {
					t.Errorf("the originals changed: %t", changed)
				}
				x.adopt("--dry-run").ok()
				if fate == "mark" {
					column := map[string]string{"sbmt-outbox": "status = 2", "velmie": "status = 1", "go-outbox": "state = 1", "watermill": "acked"}[x.from]
					if n := one[int](x, `SELECT count(*) FROM `+table+` WHERE `+column); n != 10 {
						t.Errorf("%d rows are marked, want 10", n)
					}
				}
			})
		}
	}
}

func TestAdoptImportsFailedRowsOnlyWithTheFlag(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]string{
		"sbmt-outbox": `UPDATE order_outbox_items SET status = 1 WHERE uuid = $1`,
		"velmie":      `UPDATE outbox SET status = -1 WHERE id = $1`,
		"go-outbox":   `UPDATE outbox SET state = 2 WHERE id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newAdoption(t, foreigns()[name])
			x.write(0, 5)
			x.exec(kill, uuidOf(2))
			x.adopt().ok().says("imported 4 messages")
			x.adopt("--with-dead").ok().says("imported 1 message")
			x.holds(0, 1, 3, 4, 2)
		})
	}
}

// A row that cannot be converted is named; its key waits, and no other does.
func TestAdoptNamesUnconvertibleRowsAndHoldsTheirKeysBack(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["sbmt-outbox"])
	x.write(0, 21) // three of each key
	x.exec(`UPDATE order_outbox_items SET options = '{"headers": ["` + canary + `"]}' WHERE id = 8`)
	x.exec(`UPDATE order_outbox_items SET event_name = repeat('x', 300) WHERE id = 10`)
	var v adoptable
	x.adopt("--dry-run", "--json").ok().json(&v)
	if len(v.Faults) != 2 || v.Convertible != 17 {
		t.Errorf("a dry run sees %+v", v.Preview)
	}
	x.adopt().ends(exit.Failed, "2 rows of public.order_outbox_items cannot be converted", "row 8: its headers are no JSON object (1 later",
		"row 10: its type holds 300 bytes, 255 allowed")
	var want []int
	for n := range 21 {
		if k := n % 7; (k != 0 && k != 2) || n < 7 {
			want = append(want, n)
		}
	}
	x.holds(want...)
	x.adopt("--mode", "trigger").ends(exit.Failed, "so that there is no trigger")
	if n := one[int](x, `SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'postbag_adopt%'`); n != 0 {
		t.Error("there is a trigger although rows wait")
	}
	// One is fixed, the other given up: each key goes on.
	x.exec(`UPDATE order_outbox_items SET options = '{"headers": {"trace": "t"}}' WHERE id = 8`)
	x.adopt("--skip", "10").ok().says("imported 3 messages", "skipped 1 row")
	x.holds(append(want, 7, 14, 16)...)
	x.adopt().ok().says("imported 0 messages")
}

// Of a header that is there twice nobody knows which value counts.
func TestAdoptNamesARowWithAHeaderTwice(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["velmie"])
	x.write(0, 3)
	x.exec(`UPDATE outbox SET headers = '{"trace": "`+canary+`", "trace": "b"}' WHERE id = $1`, uuidOf(1))
	x.adopt().ends(exit.Failed, "row "+uuidOf(1)+`: its headers have the name "trace" twice`)
	x.exec(`UPDATE outbox SET headers = '{"trace": "b"}' WHERE id = $1`, uuidOf(1))
	x.adopt().ok().says("imported 1 message")
}

// Nobody knows which key a letter has that cannot be read: all behind it waits.
func TestAdoptStopsAtARowThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["go-outbox"])
	x.write(0, 6)
	x.exec(`UPDATE outbox SET data = '\x00ff' WHERE id = $1`, uuidOf(3))
	x.adopt().ends(exit.Failed, "row "+uuidOf(3)+": its data is not what go-outbox writes", "2 later")
	x.holds(0, 1, 2)
	x.adopt("--skip", uuidOf(3)).ok()
	x.holds(0, 1, 2, 4, 5)
}

// An id that is no UUID makes one that is always the same.
func TestAdoptDerivesAStableIDFromAnIDThatIsNoUUID(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["watermill"])
	for _, id := range []string{"short", "00000000-0000-0000-0000-000000000000", strings.ToUpper("01900000-0000-7000-8000-00000000000a")} {
		x.exec(x.insert, x.give(id, "k", []byte("{}"))...)
	}
	x.adopt().ok()
	got := x.box()
	if got[0].id[14] != '8' || got[1].id[14] != '8' || got[0].id == got[1].id || got[2].id != "01900000-0000-7000-8000-00000000000a" {
		t.Errorf("the ids are %v", got)
	}
	x.exec(`DELETE FROM postbag._adopted`)
	x.adopt().ok()
	if again := x.box(); again[3].id != got[0].id || again[4].id != got[1].id {
		t.Errorf("the second time the ids are %v", again[3:])
	}
}

// A uuid that the original used twice stands in the box twice: both rows are there.
func TestAdoptImportsBothRowsOfADuplicateID(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["watermill"])
	for range 3 {
		x.write(0, 2)
	}
	x.adopt().ok()
	x.holds(0, 1, 0, 1, 0, 1)
}

func TestAdoptReadsColumnsByOtherNamesAndTopicsByAPattern(t *testing.T) {
	t.Parallel()
	o := *foreigns()["debezium"]
	o.schema = `CREATE TABLE "Odd Names" ("Id" char(36) PRIMARY KEY, what text, who integer NOT NULL, happened citext, body text, extra jsonb, n bigserial)`
	o.schema = strings.Replace(o.schema, "citext", "text", 1)
	o.table = "Odd Names"
	o.flags = []string{
		"--where", "n > 1", "--column", "id=Id", "--column", "topic=what", "--column", "key=extra.who", "--column", "type=happened", "--column",
		"payload=body", "--column", "headers=extra.more", "--column", "order=n", "--topic", "event.{topic}.v1",
	}
	x := newAdoption(t, &o)
	for n := range 3 {
		x.exec(`INSERT INTO "Odd Names" VALUES ($1, 'it''s', 7, 'placed', 'body', '{"who": "k", "more": {"a": "b", "c": 1, "d": null}}')`, uuidOf(n))
	}
	x.adopt("--dry-run").ok().says(`what, as "event.{topic}.v1"`, "extra.who", "would be imported       2")
	x.adopt("--mode", "trigger").ok()
	x.exec(`INSERT INTO "Odd Names" VALUES ($1, NULL, 7, NULL, NULL, NULL)`, uuidOf(3))
	x.exec(`INSERT INTO "Odd Names" VALUES ($1, 'it''s', 7, 'placed', 'body', '{"who": "k", "more": {"a": "b", "c": 1, "d": null}}')`, uuidOf(4))
	got := x.box()
	if len(got) != 4 || got[2].topic != "event.outbox.v1" || got[2].key != "" || len(got[2].payload) != 0 || got[2].headers != "" {
		t.Fatalf("the box has %v", got)
	}
	for i, n := range map[int]int{0: 1, 1: 2, 3: 4} {
		g := got[i]
		if g.id != uuidOf(n) || g.topic != "event.it's.v1" || g.key != "k" || g.typ != "placed" || string(g.payload) != "body" {
			t.Errorf("message %d is %v", i, g)
		}
	}
	items := cli(t, "messages", "list", x.flag, x.where, "--json").ok().items()
	for _, item := range items {
		if id := item.ID.String(); id == uuidOf(1) || id == uuidOf(4) {
			if !maps.Equal(item.Headers, map[string]string{"a": "b", "c": "1", "d": "null"}) {
				t.Errorf("the headers of %s are %v", item.ID, item.Headers)
			}
		}
	}
}

// Rows that nothing tells apart are not taken for one.
func TestAdoptRefusesTwoRowsWithTheSameID(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["go-outbox"])
	for range 2 {
		x.write(0, 1)
	}
	x.adopt().ends(exit.Usage, "two rows of public.outbox have the same id, so that nothing tells them apart")
	x.holds()
	x.adopt("--skip", "nosuch").ends(exit.Usage)
	x.exec(`UPDATE outbox SET id = $1 WHERE ctid = (SELECT max(ctid) FROM outbox)`, uuidOf(1))
	x.adopt("--skip", "nosuch").ok().says("1 row that --skip names did not wait")
	if len(x.box()) != 2 {
		t.Error("the fixed rows are not in the box")
	}
}

// A row that the original delivers before its turn is not imported.
func TestAdoptSkipsRowsThatTheOldRelayDeliversMeanwhile(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["sbmt-outbox"])
	x.write(0, 15)
	x.exec(`UPDATE order_outbox_items SET event_name = repeat('x', 300) WHERE id = 1`)
	x.adopt().ends(exit.Failed, "row 1:")                 // 8 and 15 of its key are listed, and wait
	x.exec(x.finish, uuidOf(7))                           // the 8th is delivered by the original
	x.exec(`DELETE FROM order_outbox_items WHERE id = 1`) // and the first removed
	x.adopt().ok().says("imported 1 message", "2 rows delivered or removed by the original")
	if got := x.box(); len(got) != 13 || got[12].id != uuidOf(14) {
		t.Errorf("the box has %d messages", len(got))
	}
	x.exec(`UPDATE order_outbox_items SET status = 0 WHERE uuid = $1`, uuidOf(7)) // it is to go once more
	x.adopt().ok().says("imported 1 message")
}
