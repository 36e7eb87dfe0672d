package adopt_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/adopt"
	"github.com/postbag/postbag/store/mysqlstore"
)

// adoption is a database with a box, and a foreign table beside it.
type adoption struct {
	*foreign

	t    *testing.T
	dsn  string
	db   *sql.DB
	here *adopt.MySQL
}

// onEach runs a test for each original on each server.
func onEach(t *testing.T, f func(t *testing.T, x *adoption)) {
	t.Helper()
	for _, k := range kinds {
		for name, o := range foreigns() {
			t.Run(k.name+" "+name, func(t *testing.T) {
				t.Parallel()
				f(t, newAdoption(t, k, o))
			})
		}
	}
}

func newAdoption(t *testing.T, k *kind, o *foreign) *adoption {
	t.Helper()
	name := k.database(t)
	x := &adoption{foreign: o, t: t, dsn: k.m.DSN(name)}
	s, err := mysqlstore.Open(t.Context(), x.dsn, mysqlstore.Options{Create: true, Boxes: []string{"outbox", "other"}})
	if err != nil {
		t.Fatal(err)
	}
	x.db = open(t, x.dsn)
	x.here = &adopt.MySQL{DB: open(t, x.dsn), Store: s}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, sql := range o.schema {
		if !k.oracle { // MariaDB takes no generated column into a primary key
			sql = strings.Replace(sql, "(id, created_ts)", "(id)", 1)
		}
		x.exec(sql)
	}
	return x
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func (x *adoption) exec(sql string, args ...any) {
	x.t.Helper()
	if _, err := x.db.ExecContext(context.Background(), sql, args...); err != nil {
		x.t.Fatalf("%v in:\n%s", err, sql)
	}
}

func (x *adoption) write(first, end int) {
	x.t.Helper()
	for n := first; n < end; n++ {
		x.exec(x.insert, x.give(uuidOf(n), keyOf(n), payloadOf(n))...)
	}
}

// plan makes the plan of the original with some changes.
func (x *adoption) plan(changes ...func(*adopt.Options)) *adopt.Plan {
	x.t.Helper()
	p, err := x.tryPlan(changes...)
	if err != nil {
		x.t.Fatal(err)
	}
	return p
}

func (x *adoption) tryPlan(changes ...func(*adopt.Options)) (*adopt.Plan, error) {
	o := x.options
	o.Box, o.Mode, o.Originals = "outbox", adopt.Import, adopt.Leave
	for _, change := range changes {
		change(&o)
	}
	table, err := x.here.Describe(x.t.Context(), o.Table)
	if err != nil {
		return nil, err
	}
	return adopt.NewPlan(table, o)
}

func (x *adoption) do(changes ...func(*adopt.Options)) adopt.Result {
	x.t.Helper()
	res, err := adopt.Do(x.t.Context(), x.here, x.plan(changes...), adopt.Watch{})
	if err != nil {
		x.t.Fatal(err)
	}
	return res
}

func trigger(o *adopt.Options) { o.Mode = adopt.Trigger }

// boxed is a message as it lies in the box.
type boxed struct{ id, topic, key, typ, headers, payload string }

func (x *adoption) box() []boxed {
	x.t.Helper()
	rows, err := x.db.QueryContext(context.Background(), "SELECT LOWER(HEX(id)), topic, `key`, type, COALESCE(headers, ''), payload FROM postbag_outbox ORDER BY seq")
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var out []boxed
	for rows.Next() {
		var b boxed
		if err := rows.Scan(&b.id, &b.topic, &b.key, &b.typ, &b.headers, &b.payload); err != nil {
			x.t.Fatal(err)
		}
		b.id = b.id[:8] + "-" + b.id[8:12] + "-" + b.id[12:16] + "-" + b.id[16:20] + "-" + b.id[20:]
		out = append(out, b)
	}
	if rows.Err() != nil {
		x.t.Fatal(rows.Err())
	}
	return out
}

// holds fails the test unless the box has the messages of some rows, in this order.
func (x *adoption) holds(want ...int) {
	x.t.Helper()
	got := x.box()
	if len(got) != len(want) {
		x.t.Fatalf("the box has %d messages, want %d", len(got), len(want))
	}
	for i, n := range want {
		g := got[i]
		m := boxed{uuidOf(n), x.topic, keyOf(n), x.typ, strings.ReplaceAll(x.headers, "KEY", keyOf(n)), payloadOf(n)}
		if x.keyless {
			m.key = "all"
		}
		if !sameJSON(g.headers, m.headers) || !sameJSON(g.payload, m.payload) {
			x.t.Errorf("message %d has headers %s and payload %s, want %s and %s", i, g.headers, g.payload, m.headers, m.payload)
		}
		g.headers, g.payload, m.headers, m.payload = "", "", "", ""
		if g != m {
			x.t.Errorf("message %d is %v, want %v", i, g, m)
		}
	}
}

func sameJSON(a, b string) bool {
	if a == b {
		return true
	}
	var x, y map[string]any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func upto(first, end int) []int {
	var out []int
	for n := first; n < end; n++ {
		out = append(out, n)
	}
	return out
}

func TestMySQLImportsWhatIsUndeliveredOnceAndInOrder(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, x *adoption) {
		x.write(0, 603)
		first := 0
		if x.finish != "" {
			first = 3
			for n := range first {
				x.exec(x.finish, x.give(uuidOf(n), "", "")[0])
			}
		}
		v, err := adopt.Look(t.Context(), x.here, x.plan())
		if err != nil || v.Undelivered != 603-first || v.Convertible != v.Undelivered || v.Other != first {
			t.Errorf("a dry run counts %+v, %v", v, err)
		}
		if res := x.do(); res.Imported != 603-first {
			t.Errorf("it says %+v", res)
		}
		x.holds(upto(first, 603)...)
		x.write(603, 605)
		if res := x.do(); res.Imported != 2 {
			t.Errorf("the second time it says %+v", res)
		}
		x.holds(upto(first, 605)...)
	})
}

func TestMySQLMarksOrDeletesTheOriginals(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, x *adoption) {
		x.write(0, 5)
		mark := func(o *adopt.Options) { o.Originals = adopt.Mark }
		if _, err := x.tryPlan(mark); err == nil {
			x.do(mark)
			x.holds(upto(0, 5)...)
			v, err := adopt.Look(t.Context(), x.here, x.plan())
			if err != nil || v.Undelivered != 0 {
				t.Errorf("after the marks a dry run counts %+v, %v", v, err)
			}
			x.exec("DELETE FROM postbag__adopted")
			if res := x.do(); res.Imported != 0 {
				t.Errorf("rows that are marked were imported: %+v", res)
			}
		} else if x.options.From != "debezium" && x.finish != "" && !strings.Contains(x.finish, "offsets") {
			t.Error(err)
		}
		x.write(5, 7)
		x.do(func(o *adopt.Options) { o.Originals = adopt.Delete })
		var n int
		if err := x.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM `"+x.options.Table+"`").Scan(&n); err != nil || n > 5 {
			t.Errorf("%d rows are left, %v", n, err)
		}
	})
}

// Old code writes while the trigger comes, goes and comes again.
func TestMySQLFeedsTheBoxWithoutLossWhileOldCodeWrites(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, x *adoption) {
		if x.opaque {
			if _, err := x.tryPlan(trigger); err == nil || !strings.Contains(err.Error(), "take --mode import") {
				t.Errorf("a trigger on it gives %v", err)
			}
			return
		}
		code := x.runOldCode(3)
		t.Cleanup(code.halt)
		for range 2 {
			code.more(t, 40)
			x.do(trigger)
			code.more(t, 40)
			if res := x.do(trigger); res.Imported != 0 {
				t.Errorf("a second trigger says %+v", res)
			}
			if _, err := adopt.Undo(t.Context(), x.here, x.plan(func(o *adopt.Options) { o.Undo = true }), adopt.Watch{}); err != nil {
				t.Fatal(err)
			}
		}
		code.more(t, 20)
		want := code.end(t)
		x.do()
		got := make(map[string][]string)
		for _, m := range x.box() {
			key := code.keys[m.id]
			got[key] = append(got[key], m.id)
		}
		for key, ids := range want {
			if !slices.Equal(got[key], ids) {
				t.Errorf("of %s the box has %d messages, %d were committed, or their order is another", key, len(got[key]), len(ids))
			}
		}
		if len(got[""]) > 0 {
			t.Errorf("the box has %d messages that were not committed", len(got[""]))
		}
	})
}

// oldCode writes rows as the project's code does, until it is stopped.
type oldCode struct {
	x    *adoption
	stop chan struct{}
	once sync.Once
	wait sync.WaitGroup

	mu        sync.Mutex
	rows      int
	committed map[string][]string
	keys      map[string]string
	err       error
}

func (x *adoption) runOldCode(writers int) *oldCode {
	c := &oldCode{x: x, stop: make(chan struct{}), committed: make(map[string][]string), keys: make(map[string]string)}
	for w := range writers {
		c.wait.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-c.stop:
					return
				default:
				}
				key := fmt.Sprintf("writer-%d-%d", w, n%3)
				ids, err := c.transaction(key, w<<32|n<<4)
				c.mu.Lock()
				c.err = errors.Join(c.err, err)
				c.rows += len(ids)
				c.committed[key] = append(c.committed[key], ids...)
				for _, id := range ids {
					c.keys[id] = key
				}
				c.mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	return c
}

func (c *oldCode) transaction(key string, first int) (ids []string, err error) {
	tx, err := c.x.db.BeginTx(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	for i := range 1 + rand.IntN(3) {
		id := uuidOf(first + i)
		if _, err := tx.ExecContext(context.Background(), c.x.insert, c.x.give(id, key, payloadOf(i))...); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if rand.IntN(5) == 0 {
		return nil, tx.Rollback()
	}
	return ids, tx.Commit()
}

// halt stops the writers.
func (c *oldCode) halt() {
	c.once.Do(func() { close(c.stop) })
	c.wait.Wait()
}

// more waits until old code has committed so many rows more.
func (c *oldCode) more(t *testing.T, rows int) {
	t.Helper()
	count := func() (int, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.rows, c.err
	}
	before, _ := count()
	tick, deadline := time.NewTicker(10*time.Millisecond), time.After(60*time.Second)
	defer tick.Stop()
	for {
		n, err := count()
		switch {
		case err != nil:
			t.Fatalf("old code failed: %v", err)
		case n >= before+rows:
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("old code did not get on in 60 s")
		}
	}
}

func (c *oldCode) end(t *testing.T) map[string][]string {
	t.Helper()
	c.halt()
	if c.err != nil {
		t.Fatalf("old code failed: %v", c.err)
	}
	return c.committed
}
