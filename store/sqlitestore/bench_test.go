package sqlitestore_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

// The message of the benchmarks: 512 bytes of JSON, a key, a topic, two headers.
func benchMessages(n int) []postbag.Message {
	payload := fmt.Appendf(nil, `{"order":"%0498d"}`, 1)
	headers := map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tenant": "acme"}
	out := make([]postbag.Message, n)
	for i := range out {
		out[i] = postbag.Message{
			ID: postbag.NewID(), Topic: "orders", Key: fmt.Sprintf("customer-%d", i%1000),
			Type: "order.created", Headers: headers, Payload: payload,
		}
	}
	return out
}

const (
	benchRows = 20_000
	benchPage = 1000
)

// rivals runs a reference and the store in turns, since machines are noisy, and
// reports the store's rate and its ratio to the reference, by medians.
func rivals(b *testing.B, messages int, reference, own func()) {
	b.Helper()
	var times [2][]float64
	run := func(i int, fn func()) {
		began := time.Now()
		fn()
		times[i] = append(times[i], time.Since(began).Seconds())
	}
	for b.Loop() {
		run(0, reference)
		run(1, own)
	}
	median := func(t []float64) float64 { slices.Sort(t); return t[len(t)/2] }
	b.ReportMetric(float64(messages)/median(times[1]), "msg/s")
	b.ReportMetric(median(times[0])/median(times[1]), "×reference")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkDrain reads and settles pages of 1,000. The reference is what no store
// could do without: a bare SELECT by rowid and one UPDATE of one row a page, both
// prepared.
func BenchmarkDrain(b *testing.B) {
	f := open(b)
	for range benchRows / 5000 {
		f.publish(benchMessages(5000)...)
	}
	lease := f.lease(outbox)
	bare := newBareDrain(b, f)
	rivals(b, benchRows, bare.run, func() { drain(b, f, &lease) })
}

func drain(b *testing.B, f *fixture, lease *store.Lease) {
	b.Helper()
	n := 0
	t := store.Turn{Read: []store.Request{request("", benchPage)}}
	for more := true; more; {
		batch := f.turn(t).Batches[0]
		n += len(batch.Records)
		sum := store.Tally{Fate: store.TallyDelivered, Count: int64(len(batch.Records))}
		t = store.Turn{
			Settle: []store.Settlement{{Lease: *lease, To: batch.Next, Tally: []store.Tally{sum}}},
			Read:   []store.Request{request(batch.Next, benchPage)},
		}
		lease.Version++
		more = batch.More
	}
	if f.turn(store.Turn{Settle: t.Settle}); n != benchRows {
		b.Fatalf("drained %d messages of %d", n, benchRows)
	}
}

// bareDrain is the reference of BenchmarkDrain.
type bareDrain struct {
	b            *testing.B
	page, settle *sql.Stmt
}

func newBareDrain(b *testing.B, f *fixture) *bareDrain {
	b.Helper()
	db := openSQL(b, f.path)
	f.check(f.Exec(b.Context(), `CREATE TABLE bare (one INTEGER PRIMARY KEY, at INTEGER)`))
	f.check(f.Exec(b.Context(), `INSERT INTO bare VALUES (1, 0)`))
	page, err := db.PrepareContext(b.Context(), `
SELECT seq, id, at, topic, key, shard_key, type, headers, payload FROM postbag_outbox WHERE seq > ? ORDER BY seq LIMIT ?`)
	f.check(err)
	settle, err := db.PrepareContext(b.Context(), `UPDATE bare SET at = ? WHERE one = 1`)
	f.check(err)
	return &bareDrain{b: b, page: page, settle: settle}
}

func (d *bareDrain) run() {
	for last, n := int64(0), benchPage; n == benchPage; {
		n, last = d.read(last)
		if _, err := d.settle.ExecContext(d.b.Context(), last); err != nil {
			d.b.Fatal(err)
		}
	}
}

func (d *bareDrain) read(last int64) (int, int64) {
	rows, err := d.page.QueryContext(d.b.Context(), last, benchPage)
	if err != nil {
		d.b.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err is looked at
	n := 0
	for rows.Next() {
		var at int64
		var topic, key, shardKey, typ, headers string
		var id, payload []byte
		if err := rows.Scan(&last, &id, &at, &topic, &key, &shardKey, &typ, &headers, &payload); err != nil {
			d.b.Fatal(err)
		}
		n++
	}
	if err := rows.Err(); err != nil {
		d.b.Fatal(err)
	}
	return n, last
}

// BenchmarkAppend publishes in one transaction, one message and a hundred. The
// reference runs the INSERTs that a program would write by hand, prepared.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := openAt(b, filepath.Join(b.TempDir(), "bench.db"), sqlitestore.Options{Create: true})
			msgs := benchMessages(n)
			rivals(b, n, newBareAppend(b, f, msgs), func() { f.publish(msgs...) })
		})
	}
}

func newBareAppend(b *testing.B, f *fixture, msgs []postbag.Message) func() {
	b.Helper()
	db := openSQL(b, f.path)
	insert, err := db.PrepareContext(b.Context(), `
INSERT INTO postbag_outbox (id, at, topic, key, type, headers, payload) VALUES (?, ?, ?, ?, ?, ?, ?)`)
	f.check(err)
	const headers = `{"tenant":"acme","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}`
	return func() {
		tx, err := db.BeginTx(b.Context(), nil)
		f.check(err)
		st := tx.StmtContext(b.Context(), insert) //nolint:sqlclosecheck // it ends with tx
		for i := range msgs {
			m := &msgs[i]
			_, err := st.ExecContext(b.Context(), m.ID[:], time.Now().UnixMicro(), m.Topic, m.Key, m.Type, headers, m.Payload)
			f.check(err)
		}
		f.check(tx.Commit())
	}
}

// BenchmarkIdle is a Turn that finds nothing.
func BenchmarkIdle(b *testing.B) {
	f := open(b)
	f.lease(outbox)
	f.publish(benchMessages(10)...)
	next := f.read("", 100).Next
	b.ReportAllocs()
	for b.Loop() {
		f.read(next, benchPage)
	}
}
