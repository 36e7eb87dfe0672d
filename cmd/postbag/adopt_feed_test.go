package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// oldCode writes rows as the project's code does, in several transactions at once of
// which some roll back, until it is stopped.
type oldCode struct {
	x    *adoption
	stop chan struct{}
	wait sync.WaitGroup

	mu        sync.Mutex
	committed map[string][]string // by key, in the order of commits
	err       error
}

// runOldCode starts writers, each with keys of its own, so that the order of each key
// is known.
func (x *adoption) runOldCode(writers int) *oldCode {
	c := &oldCode{x: x, stop: make(chan struct{}), committed: make(map[string][]string)}
	for w := range writers {
		c.wait.Go(func() { c.write(w) })
	}
	x.t.Cleanup(func() { c.end() })
	return c
}

func (c *oldCode) write(w int) {
	for n := 0; ; n++ {
		select {
		case <-c.stop:
			return
		default:
		}
		key := fmt.Sprintf("writer-%d-%d", w, n%3)
		ids, err := c.transaction(key, w<<32|n<<4)
		c.mu.Lock()
		if err != nil {
			c.err = err
		}
		c.committed[key] = append(c.committed[key], ids...)
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// transaction writes up to three rows of a key, and returns what it committed.
func (c *oldCode) transaction(key string, first int) (ids []string, err error) {
	ctx := context.Background()
	tx, err := c.x.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	for i := range 1 + rand.IntN(3) {
		id := uuidOf(first + i)
		if _, err := tx.Exec(ctx, c.x.insert, c.x.give(id, key, payloadOf(i))...); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if rand.IntN(4) == 0 { // some take longer than others
		if _, err := tx.Exec(ctx, `SELECT pg_sleep(0.01)`); err != nil {
			return nil, err
		}
	}
	if rand.IntN(5) == 0 {
		return nil, tx.Rollback(ctx)
	}
	return ids, tx.Commit(ctx)
}

// count is how many rows are committed.
func (c *oldCode) count() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ids := range c.committed {
		n += len(ids)
	}
	return n
}

// end stops the writers, and returns what they committed.
func (c *oldCode) end() map[string][]string {
	c.mu.Lock()
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	c.mu.Unlock()
	c.wait.Wait()
	return c.committed
}

// ends waits until some more rows are committed, stops the writers and fails the
// test unless the box has each of their rows once, and each key's in order.
func (c *oldCode) check(t *testing.T) {
	t.Helper()
	want := c.end()
	if c.err != nil {
		t.Fatalf("old code failed: %v", c.err)
	}
	got := make(map[string][]string)
	keys := make(map[string]string)
	for key, ids := range want {
		for _, id := range ids {
			keys[id] = key
		}
	}
	for _, m := range c.x.box() {
		key, ours := keys[m.id]
		if !ours {
			t.Errorf("the box has %s, which was not committed", m.id)
		}
		got[key] = append(got[key], m.id)
	}
	for key, ids := range want {
		if fmt.Sprint(got[key]) != fmt.Sprint(ids) {
			t.Errorf("of %s the box has %d messages, %d were committed, or their order is another", key, len(got[key]), len(ids))
		}
	}
}

// more waits until old code has committed so many rows more.
func (c *oldCode) more(t *testing.T, rows int) {
	t.Helper()
	before := c.count()
	await(t, "old code writes", func() bool {
		c.mu.Lock()
		err := c.err
		c.mu.Unlock()
		if err != nil {
			t.Fatalf("old code failed: %v", err)
		}
		return c.count() >= before+rows
	})
}

func TestAdoptFeedsTheBoxWhileOldCodeWrites(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"trigger", "view"} {
		onEachForeign(t, func(t *testing.T, x *adoption) {
			if x.opaque {
				x.adopt("--mode", mode).ends(exit.Usage, "which a database cannot read in a "+mode+"; take --mode import")
				return
			}
			code := x.runOldCode(4)
			code.more(t, 300)
			x.adopt("--mode", mode).ok().says("the "+mode+" is there", "writers were held off")
			code.more(t, 300)
			x.adopt("--mode", mode).ok().says("imported 0 messages")
			x.adopt().ends(exit.Usage, "a "+mode+" feeds the box", "--undo")
			code.more(t, 100)
			code.check(t)
		})
		if t.Failed() {
			return
		}
	}
}

// The trigger goes and comes while old code writes: what came between is imported,
// and what the trigger brought is not brought again.
func TestAdoptUndoRemovesTheTriggerAndLosesOrRepeatsNothing(t *testing.T) {
	t.Parallel()
	onEachForeign(t, func(t *testing.T, x *adoption) {
		if x.opaque {
			return // it has no trigger, as another test shows
		}
		code := x.runOldCode(3)
		code.more(t, 50)
		for _, mode := range []string{"trigger", "import", "trigger", "import"} {
			if mode == "trigger" {
				x.adopt("--mode", "trigger").ok()
			} else {
				x.adopt("--undo").ok().says("is not imported again")
			}
			code.more(t, 50)
		}
		code.end()
		x.adopt().ok()
		code.check(t)
		x.adopt("--undo").ends(exit.Usage, "there is nothing to undo")
	})
}

// Old code that is given no right on the box still feeds it.
func TestAdoptFeedsTheBoxThoughOldCodeHasNoRightsOnIt(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"trigger", "view"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			x := newAdoption(t, foreigns()["sbmt-outbox"])
			name := strings.TrimPrefix(dsnOf(t, x.place).Path, "/")
			role := name + "_old"
			if _, err := postgres.Server(t).Exec(t.Context(), name, `CREATE ROLE `+role+`; GRANT SELECT, INSERT ON order_outbox_items TO `+role+`;
				GRANT USAGE ON SEQUENCE order_outbox_items_id_seq TO `+role+`; GRANT `+role+` TO app`); err != nil {
				t.Fatal(err)
			}
			x.adopt("--mode", mode).ok()
			tx, err := x.pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), `SET LOCAL ROLE `+role); err != nil {
				t.Fatal(err)
			}
			var id int
			err = tx.QueryRow(t.Context(), x.insert+` RETURNING id`, x.give(uuidOf(0), keyOf(0), payloadOf(0))...).Scan(&id)
			if err != nil || id != 1 {
				t.Fatalf("old code got %d, %v", id, err)
			}
			if _, err := tx.Exec(t.Context(), `INSERT INTO postbag.outbox (payload) VALUES ('')`); err == nil {
				t.Error("old code may write to the box")
			}
			_ = tx.Rollback(t.Context())
			x.write(0, 1)
			x.holds(0)
		})
	}
}

// A view takes the table's place and gives it back.
func TestAdoptReplacesTheTableByAViewAndUndoRestoresIt(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["watermill queue"])
	x.exec(`ALTER TABLE "watermill_orders.placed" ALTER "offset" DROP DEFAULT`)
	x.exec(`ALTER TABLE "watermill_orders.placed" ALTER "offset" ADD GENERATED ALWAYS AS IDENTITY`)
	x.write(0, 3)
	x.adopt("--mode", "view").ok()
	offset := one[int](x, x.insert+` RETURNING "offset"`, x.give(uuidOf(3), "", payloadOf(3))...)
	if offset != 4 {
		t.Errorf("the identity that old code gets is %d, want 4", offset)
	}
	// Old code reads and marks what was there before.
	x.exec(x.finish, uuidOf(0))
	if n := one[int](x, `SELECT count(*) FROM "watermill_orders.placed"`); n != 3 {
		t.Errorf("the view shows %d rows, want the 3 of the table", n)
	}
	x.holds(0, 1, 2, 3)
	x.adopt("--undo").ok()
	if kind := one[string](x, `SELECT relkind::text FROM pg_class WHERE relname = 'watermill_orders.placed'`); kind != "r" {
		t.Errorf("it is a %s now, want a table", kind)
	}
	x.write(4, 6)
	x.holds(0, 1, 2, 3)
	x.adopt().ok().says("imported 2 messages")
	x.holds(0, 1, 2, 3, 4, 5)
}

// A transaction of old code that does not end keeps the trigger away, not other
// writers.
func TestAdoptWaitsForOpenTransactionsWithoutStoppingWriters(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["velmie"])
	tx, err := x.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), x.insert, x.give(uuidOf(0), keyOf(0), payloadOf(0))...); err != nil {
		t.Fatal(err)
	}
	r := start(t, append(x.args(), "--mode", "trigger")...)
	await(t, "it says that it waits", func() bool { return strings.Contains(r.err.String(), "waiting for transactions") })
	x.write(1, 30) // each waits for a moment at most
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case code := <-r.ended:
		if code != exit.OK {
			t.Fatalf("it ended with %d", code)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("it did not end")
	}
	x.write(30, 32)
	got := make(map[string]int)
	for _, m := range x.box() {
		got[m.id]++
	}
	for n := range 32 {
		if got[uuidOf(n)] != 1 {
			t.Errorf("row %d is in the box %d times", n, got[uuidOf(n)])
		}
	}
}

// A process that is killed leaves nothing half done: run again, it goes on.
func TestAdoptContinuesWhereItWasKilled(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["sbmt-outbox"])
	const rows = 12_000
	x.exec(`INSERT INTO order_outbox_items (uuid, event_name, event_key, bucket, payload, created_at, updated_at)
		SELECT ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'placed', 'customer-' || n % 7, 0, 'x', now(), now()
		FROM generate_series(0, $1::int - 1) n ORDER BY n`, rows)
	in := func() int { return one[int](x, `SELECT count(*) FROM postbag.outbox`) }
	for kill := 1; kill <= 3; kill++ {
		cmd := exec.Command(os.Args[0], x.args()...)
		var said buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, "some more are imported", func() bool {
			if text := said.String(); strings.Contains(text, "postbag:") {
				t.Fatal(text)
			}
			return in() >= kill*2000
		})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
	}
	if n := in(); n == rows {
		t.Error("all were imported before the last was killed: the test shows nothing")
	}
	x.adopt("--mode", "trigger").ok()
	got, err := x.pool.Query(t.Context(), `SELECT id::text FROM postbag.outbox ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(got, pgx.RowTo[string])
	if err != nil || len(ids) != rows {
		t.Fatalf("the box has %d messages, want %d: %v", len(ids), rows, err)
	}
	for n, id := range ids {
		if id != uuidOf(n) {
			t.Fatalf("message %d is %s: lost, doubled or out of order", n, id)
		}
	}
}

// Two consumer groups of one topic feed a box each.
func TestAdoptFeedsABoxForEachConsumerGroup(t *testing.T) {
	t.Parallel()
	x := newAdoption(t, foreigns()["watermill"])
	cli(t, "migrate", "up", x.flag, x.where, "--box", "other").ok()
	x.write(0, 4)
	x.exec(`INSERT INTO watermill_offsets_orders SELECT g, "offset", transaction_id FROM watermill_orders, (VALUES ('a', 1), ('b', 3)) v (g, n) WHERE "offset" = n`)
	x.adopt("--group", "a", "--mode", "trigger").ok().says("imported 3 messages")
	x.adopt("--group", "b", "--mode", "trigger", "--box", "other").ok().says("imported 1 message")
	x.write(4, 6)
	x.holds(1, 2, 3, 4, 5)
	if n := one[int](x, `SELECT count(*) FROM postbag.other`); n != 3 {
		t.Errorf("the other box has %d messages, want 3", n)
	}
	x.adopt("--group", "a", "--undo").ok()
	x.write(6, 7)
	x.holds(1, 2, 3, 4, 5)
	if n := one[int](x, `SELECT count(*) FROM postbag.other`); n != 4 {
		t.Errorf("the other box has %d messages, want 4", n)
	}
}
