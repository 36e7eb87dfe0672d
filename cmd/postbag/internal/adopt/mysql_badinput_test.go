package adopt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/adopt"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
)

// onBoth runs a test on each server with one original.
func onBoth(t *testing.T, original string, f func(t *testing.T, k *kind, x *adoption)) {
	t.Helper()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			f(t, k, newAdoption(t, k, foreigns()[original]))
		})
	}
}

func TestMySQLRefusesBadInputBeforeItWritesAnything(t *testing.T) {
	t.Parallel()
	onBoth(t, "watermill", func(t *testing.T, _ *kind, x *adoption) {
		x.write(0, 2)
		x.exec(`INSERT INTO watermill_offsets_orders VALUES ('billing', 1, 1)`)
		x.exec(`CREATE TABLE watermill_alone LIKE watermill_orders`)
		for name, c := range map[string]struct {
			change func(*adopt.Options)
			says   string
		}{
			"a table":       {func(o *adopt.Options) { o.Table = "nosuch" }, `there is no such table as "nosuch"`},
			"another's":     {func(o *adopt.Options) { o.From, o.Group = "velmie", "" }, "has no column status"},
			"a view":        {func(o *adopt.Options) { o.Mode = adopt.View }, "take --mode trigger"},
			"a group":       {func(o *adopt.Options) { o.Group = "shipping" }, `name one with --group: "billing"`},
			"offsets":       {func(o *adopt.Options) { o.Table = "watermill_alone" }, "of watermill's offsets; name it with --offsets"},
			"a condition":   {func(o *adopt.Options) { o.Where = "nosuch = 1" }, "--where is no condition"},
			"a kind":        {func(o *adopt.Options) { o.Columns = map[adopt.Role]adopt.Source{adopt.RolePayload: {Column: "offset"}} }, "of type bigint"},
			"a row's order": {func(o *adopt.Options) { o.Columns = map[adopt.Role]adopt.Source{adopt.RoleOrder: {Column: "xmin"}} }, "is for PostgreSQL"},
		} {
			p, err := x.tryPlan(c.change)
			if err == nil {
				_, err = adopt.Do(t.Context(), x.here, p, adopt.Watch{})
			}
			var wrong *adopt.InputError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s gives %v", name, err)
			}
		}
		_, err := adopt.Do(t.Context(), x.here, x.plan(func(o *adopt.Options) { o.Box = "nosuch" }), adopt.Watch{})
		if !errors.Is(err, store.ErrNoBox) {
			t.Errorf("a box that is not there gives %v", err)
		}
		var tables int
		if err := x.db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
			AND TABLE_NAME LIKE 'postbag\_\_adopt%'`).Scan(&tables); err != nil || tables != 0 || len(x.box()) != 0 {
			t.Errorf("something was written: %v", err)
		}
	})
}

func TestMySQLNamesTheRightsThatAreMissing(t *testing.T) {
	t.Parallel()
	onBoth(t, "velmie", func(t *testing.T, k *kind, x *adoption) {
		x.write(0, 2)
		name := x.dsn[strings.LastIndex(x.dsn, "/")+1:]
		for _, sql := range []string{
			"CREATE USER poor_" + name + "@`127.0.0.1` IDENTIFIED BY 'pw'",
			"GRANT SELECT, INSERT, UPDATE, DELETE ON " + name + ".* TO poor_" + name + "@`127.0.0.1`",
			"CREATE USER old_" + name + "@`127.0.0.1` IDENTIFIED BY 'pw'",
			"GRANT INSERT ON " + name + ".outbox TO old_" + name + "@`127.0.0.1`",
		} {
			x.exec(sql)
		}
		as := func(who string) string {
			return fmt.Sprintf("%s_%s:pw@tcp(127.0.0.1:%d)/%s", who, name, k.m.Port(), name)
		}
		poor := as("poor")
		s, err := mysqlstore.Open(t.Context(), poor, mysqlstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		here := &adopt.MySQL{DB: open(t, poor), Store: s}
		_, err = adopt.Do(t.Context(), here, x.plan(trigger), adopt.Watch{})
		want := fmt.Sprintf("lacks CREATE on %[1]s.postbag__adopted, LOCK TABLES on %[1]s.outbox, TRIGGER on %[1]s.outbox", name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v, want %s", err, want)
		}
		// Old code that may only insert feeds the box.
		x.do(trigger)
		old := open(t, as("old"))
		if _, err := old.ExecContext(t.Context(), x.insert, x.give(uuidOf(2), keyOf(2), payloadOf(2))...); err != nil {
			t.Error(err)
		}
		x.holds(0, 1, 2)
	})
}

// A row that cannot be converted is named; its key waits, and no other does.
func TestMySQLNamesUnconvertibleRowsAndHoldsTheirKeysBack(t *testing.T) {
	t.Parallel()
	onBoth(t, "velmie", func(t *testing.T, _ *kind, x *adoption) {
		x.write(0, 21)
		x.exec(`UPDATE outbox SET headers = '["none"]' WHERE id = ?`, x.give(uuidOf(7), "", "")[0])
		res := x.do()
		if len(res.Faults) != 1 || res.Faults[0].Row != uuidOf(7) || res.Faults[0].Behind != 1 || res.Imported != 19 {
			t.Errorf("it says %+v", res)
		}
		if res = x.do(trigger); len(res.Faults) != 1 {
			t.Errorf("a trigger says %+v", res)
		}
		if res = x.do(trigger, func(o *adopt.Options) { o.Skip = []string{uuidOf(7)} }); res.Skipped != 1 || res.Imported != 1 {
			t.Errorf("with the row skipped it says %+v", res)
		}
		x.write(21, 22)
		if got := x.box(); len(got) != 21 || got[19].id != uuidOf(14) || got[20].id != uuidOf(21) {
			t.Errorf("the box has %d messages", len(got))
		}
	})
}
