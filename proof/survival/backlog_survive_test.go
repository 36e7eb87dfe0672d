package survival

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/internal/record"
)

// backlogKeys is how many keys a backlog has.
const backlogKeys = 1000

// Item 8: a backlog of 2 million that came together while no relay ran, the last
// 200,000 of it in one transaction, is drained without growing slower, in little
// memory.
func TestALargeBacklogIsDrainedAtASteadyPaceInBoundedMemory(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	w := newWorldOn(t, testserver.PostgresOptions{Settings: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "max_wal_size": "4GB",
	}}, testserver.NATSOptions{})
	w.exec(`create extension pg_stat_statements`)
	total, large := 2_000_000, 200_000
	if !full() {
		total, large = 200_000, 40_000
	}
	const usual = 20_000
	n := 0
	for ; n < total-large; n += usual {
		w.insert(n, usual)
	}
	w.insert(n, large)

	w.exec(`select pg_stat_statements_reset()`)
	begun := time.Now()
	r := w.start("a", relayConfig{ttl: time.Minute}) // a machine that pauses for a TTL has the relay repeat what is in flight
	w.awaitStored(total / 10)
	first := w.pages()
	w.awaitStored(total * 9 / 10)
	before := w.pages()
	w.awaitStored(total)
	took := time.Since(begun)
	last := w.pages().less(before)
	memory := peakMemory(t, r.PID())

	committed := map[string]int{}
	for k := range backlogKeys {
		committed[key(k)] = total / backlogKeys
	}
	v := w.judge(w.messages(0, time.Minute), committed, nil)
	t.Logf("committed %d, %s, in %v, %.0f messages/s, relay's memory at most %d MiB",
		total, record.Line(v), took.Round(time.Millisecond), float64(total)/took.Seconds(), memory>>20)
	t.Logf("reading took %v a thousand messages in the first tenth and %v in the last", first.each(1000), last.each(1000))
	if memory >= 128<<20 {
		t.Errorf("the relay used %d MiB", memory>>20)
	}
	if full() && float64(last.each(1000)) > 1.3*float64(first.each(1000)) {
		t.Errorf("reading grew slower: from %v to %v a thousand messages", first.each(1000), last.each(1000))
	}
	r.Stop()
}

// insert commits n messages in one transaction, after so many before them.
func (w *world) insert(before, n int) {
	w.t.Helper()
	w.exec(fmt.Sprintf(`insert into postbag.outbox (topic, key, payload)
		select 'events.a', 'k' || i %% %[1]d, convert_to(format('{"key":"k%%s","n":%%s}', i %% %[1]d, i / %[1]d), 'UTF8')
		from generate_series(%[2]d, %[3]d) i`, backlogKeys, before, before+n-1))
}

// exec runs one statement on the world's database.
func (w *world) exec(sql string) {
	w.t.Helper()
	if _, err := w.pool.Exec(w.t.Context(), sql); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// awaitStored waits until the stream holds n messages.
func (w *world) awaitStored(n int) {
	w.t.Helper()
	w.jetstream(func(ctx context.Context, js jetstream.JetStream) error {
		s, err := js.Stream(ctx, stream)
		if err != nil {
			return err
		}
		for {
			i, err := s.Info(ctx)
			if err != nil {
				return fmt.Errorf("waiting for %d messages: %w", n, err)
			}
			if i.State.Msgs >= uint64(n) {
				return nil
			}
			pause(20 * time.Millisecond)
		}
	})
}

// reading is what the database spent on reading the log.
type reading struct {
	ms   float64
	rows int64
}

// pages asks the database what it has spent on reading the log.
func (w *world) pages() (r reading) {
	w.t.Helper()
	err := w.pool.QueryRow(w.t.Context(), `select coalesce(sum(total_exec_time), 0), coalesce(sum(rows), 0)::bigint from pg_stat_statements
		where query like '%octet_length(b.payload)%' and query like '%postbag.outbox b%'`).Scan(&r.ms, &r.rows)
	if err != nil || r.rows == 0 {
		w.t.Fatalf("the database read %d rows of the log, %v", r.rows, err)
	}
	return r
}

func (r reading) less(earlier reading) reading {
	return reading{r.ms - earlier.ms, r.rows - earlier.rows}
}

// each is the time for n rows.
func (r reading) each(n int) time.Duration {
	return time.Duration(r.ms * float64(n) / float64(r.rows) * float64(time.Millisecond)).Round(time.Microsecond)
}

// peakMemory is the most resident memory that a process had, in bytes.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			kib, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("the system does not say how much memory a process had")
	return 0
}
