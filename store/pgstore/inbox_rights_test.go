package pgstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

func TestAConsumersPrintedRightsAreThoseNeeded(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	role := s.name + "_c"
	c := s.role(role, pgstore.GrantConsumer(role))
	to, err := pgstore.OpenAppender(t.Context(), sqlOf(t, c.dsn, func(*pgx.ConnConfig) {}), pgstore.AppenderOptions{})
	s.Must(err)
	with := []store.Mark{{ID: "a", Sum: sumOf("a")}, {ID: "b"}}
	c.wantMarked("billing", with, true, true)
	c.wantMarked("billing", with[:1], false)
	c.wantMarked("billing", marksOf("c"), true)
	s.Must(to.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
		fresh, err := to.Mark(ctx, tx, "billing", append(with, store.Mark{ID: "d"}))
		if err == nil && (fresh[0] || fresh[1] || !fresh[2]) {
			t.Errorf("marks are %v", fresh)
		}
		return err
	}))
}

// A receiver marks and stores in one transaction, and reads nothing.
func TestAReceiverNeedsTheRightsOfAProducerAndAConsumer(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	role := s.name + "_r"
	grants, err := pgstore.GrantProducer(role, "outbox")
	s.Must(err)
	c := s.role(role, grants+pgstore.GrantConsumer(role))
	s.Must(c.Store.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		fresh, err := c.Mark(ctx, tx, "billing", marksOf("a"))
		if err == nil && !fresh[0] {
			t.Error("a first mark is not fresh")
		}
		fault := postbag.Message{ID: postbag.NewID(), Topic: "t", Headers: map[string]string{store.FaultHeader: "why"}, Payload: []byte("p")}
		return errors.Join(err, c.Append(ctx, tx, "outbox", []postbag.Message{fault}))
	}))
	if got := s.Read(); len(got) != 1 || got[0].Err == nil {
		t.Errorf("in the box are %+v", got)
	}
}

// A consumer, a producer and a console with every right that the library prints for them, and one with none.
func TestAHostileRoleRemovesNoMark(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.wantMarked("billing", []store.Mark{{ID: "a", Sum: sumOf("a")}}, true)
	producer, err := pgstore.GrantProducer(s.name+"_p", "outbox")
	s.Must(err)
	const denied = "permission denied"
	changes := []string{
		"DELETE FROM postbag._once", "UPDATE postbag._once SET at = at", "UPDATE postbag._once SET sum = NULL", "TRUNCATE postbag._once",
		"INSERT INTO postbag._once (consumer, id, at) VALUES ('billing', 'x', '1970-01-01')", "SELECT FROM postbag._once FOR UPDATE",
		"INSERT INTO postbag._once (consumer, id) VALUES ('billing', 'a') ON CONFLICT (consumer, id) DO UPDATE SET at = now()",
		"BEGIN; LOCK TABLE postbag._once IN SHARE MODE; COMMIT", "BEGIN; LOCK TABLE postbag._once IN ACCESS EXCLUSIVE MODE; COMMIT",
		"INSERT INTO postbag._consumers VALUES ('billing', '1 minute')", "UPDATE postbag._consumers SET keep = '1 minute'", "DELETE FROM postbag._consumers",
		"UPDATE postbag._forgetting SET holder = ''", "DELETE FROM postbag._forgetting", "SELECT FROM postbag._forgetting FOR UPDATE",
	}
	for name, c := range map[string]struct {
		rights       string
		marks, reads bool
	}{
		"_c": {pgstore.GrantConsumer(s.name + "_c"), true, false},
		"_p": {producer, false, false},
		"_v": {pgstore.GrantConsole(s.name + "_v"), false, true},
		"_n": {"GRANT USAGE ON SCHEMA postbag, public TO " + s.name + "_n; GRANT SELECT ON postbag._meta, postbag._migrations TO " + s.name + "_n", false, false},
	} {
		f := s.role(s.name+name, c.rights)
		refused := append([]string{}, changes...)
		if !c.reads {
			refused = append(refused, "SELECT at FROM postbag._once", "SELECT FROM postbag._consumers", "SELECT FROM postbag._forgetting")
		}
		if !c.marks {
			refused = append(refused, "INSERT INTO postbag._once (consumer, id) VALUES ('billing', 'y')")
		}
		for _, sql := range refused {
			if _, err := f.plain.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), denied) {
				t.Errorf("%s may %s: %v", name, sql, err)
			}
		}
		_, err := f.marked("billing", marksOf("b")...)
		if (err == nil) != c.marks || err != nil && (!strings.Contains(err.Error(), denied) || !strings.Contains(err.Error(), "GrantConsumer")) {
			t.Errorf("%s marks: %v", name, err)
		}
		_, forgot := f.Forget(t.Context())
		declared := f.DeclareConsumer(t.Context(), "billing", time.Minute)
		for _, err := range []error{forgot, declared} {
			if err == nil || !strings.Contains(err.Error(), denied) {
				t.Errorf("%s forgets or declares: %v", name, err)
			}
		}
	}
	s.wantMarked("billing", []store.Mark{{ID: "a", Sum: sumOf("a")}}, false)
}

func TestARelaysRightsAreEnoughToForget(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	role := s.name + "_r"
	r := s.role(role, pgstore.GrantRelay(role))
	s.fillMarks("billing", 10, 2*time.Minute)
	s.Must(r.DeclareConsumer(t.Context(), "billing", time.Minute))
	if got := s.forgetAll(r); got.Removed != 10 {
		t.Errorf("a relay's role forgets %+v", got)
	}
	if got, err := r.Consumers(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("a relay's role lists %v: %v", got, err)
	}
}

// Whatever the policies let through: a role that they apply to gets an error, for marks that are new and for marks that are not.
func TestRowLevelSecurityMakesNoMarkFreshAndNoneKnown(t *testing.T) {
	t.Parallel()
	for name, policies := range map[string][]string{
		"no policy":                      nil,
		"all may insert, and none reads": {"CREATE POLICY i ON postbag._once FOR INSERT WITH CHECK (true)"},
		"all may insert, some is read": {
			"CREATE POLICY i ON postbag._once FOR INSERT WITH CHECK (true)", "CREATE POLICY r ON postbag._once FOR SELECT USING (consumer = 'shipping')",
		},
		"all may do all": {"CREATE POLICY a ON postbag._once USING (true) WITH CHECK (true)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestBox(t)
			role := s.name + "_c"
			c := s.role(role, pgstore.GrantConsumer(role))
			s.wantMarked("billing", []store.Mark{{ID: "known", Sum: sumOf("x")}}, true)
			s.exec("ALTER TABLE postbag._once ENABLE ROW LEVEL SECURITY")
			for _, sql := range policies {
				s.exec(sql)
			}
			to, err := pgstore.OpenAppender(t.Context(), sqlOf(t, c.dsn, func(*pgx.ConnConfig) {}), pgstore.AppenderOptions{})
			s.Must(err)
			check := func(way string, hide bool) {
				t.Helper()
				for _, marks := range [][]store.Mark{
					marksOf("known"), {{ID: "known", Sum: sumOf("x")}}, {{ID: "known", Sum: sumOf("y")}}, marksOf("new"), marksOf("newer", "known"), {{ID: "newest", Sum: sumOf("x")}},
				} {
					_, one := c.marked("billing", marks...)
					other := to.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error {
						_, err := to.Mark(ctx, tx, "billing", marks)
						return err
					})
					for _, err := range []error{one, other} {
						if hide && !hiddenRows(err) || !hide && err != nil && !errors.Is(err, store.ErrOtherBytes) {
							t.Errorf("%s: to mark %q says %v", way, marks, err)
						}
					}
				}
			}
			check("under policies", true)
			s.exec("ALTER ROLE " + role + " SET row_security = off")
			c.pool.Reset()
			check("with row_security off", true)
			s.exec("ALTER ROLE " + role + " BYPASSRLS")
			check("with BYPASSRLS", false)
		})
	}
}

func TestRowLevelSecurityByForceAppliesToTheOwnerOfTheMarks(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	role := s.name + "_r"
	r := s.role(role, pgstore.GrantRelay(role))
	s.exec("ALTER TABLE postbag._once OWNER TO " + role)
	s.exec("ALTER TABLE postbag._once ENABLE ROW LEVEL SECURITY")
	s.exec("CREATE POLICY i ON postbag._once USING (true) WITH CHECK (true)")
	r.wantMarked("billing", marksOf("a"), true) // policies do not apply to the owner
	s.exec("ALTER TABLE postbag._once FORCE ROW LEVEL SECURITY")
	if _, err := r.marked("billing", marksOf("a")...); !hiddenRows(err) {
		t.Errorf("by force the owner marks: %v", err)
	}
	s.exec("ALTER TABLE postbag._once OWNER TO CURRENT_USER")
	s.exec(pgstore.GrantRelay(role))
	if _, err := r.Forget(t.Context()); !hiddenRows(err) {
		t.Errorf("a relay forgets under row-level security: %v", err)
	}
	s.exec("ALTER TABLE postbag._once DISABLE ROW LEVEL SECURITY")
	for _, table := range []string{"_consumers", "_forgetting"} {
		s.exec("ALTER TABLE postbag." + table + " ENABLE ROW LEVEL SECURITY")
		if _, err := r.Forget(t.Context()); !hiddenRows(err) {
			t.Errorf("a relay forgets with row-level security of %s: %v", table, err)
		}
		s.exec("ALTER TABLE postbag." + table + " DISABLE ROW LEVEL SECURITY")
	}
	s.exec("ALTER TABLE postbag._consumers ENABLE ROW LEVEL SECURITY")
	_, listed := r.Consumers(t.Context())
	for _, err := range []error{listed, r.DeclareConsumer(t.Context(), "billing", time.Hour)} {
		if !hiddenRows(err) {
			t.Errorf("a relay lists or declares consumers under row-level security: %v", err)
		}
	}
}

func TestAMarkInATransactionThatCannotTakeItSaysWhatToDo(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	in, err := inbox.New[pgx.Tx](s.Store)
	s.Must(err)
	for statement, says := range map[string]string{
		"SET TRANSACTION READ ONLY": "begin a transaction that may write",
		"SELECT 1/0":                "an earlier statement of the transaction failed: roll back",
	} {
		tx, err := s.plain.Begin(t.Context())
		s.Must(err)
		_, _ = tx.Exec(t.Context(), statement)
		if _, err := in.Once(t.Context(), tx, "billing", "order-1"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("after %s it says %v", statement, err)
		}
		s.Must(tx.Rollback(t.Context()))
	}
}

func TestADatabaseWithoutTheTablesIsNamed(t *testing.T) {
	t.Parallel()
	name := shared.Database(t)
	pool := newPool(t, plainConfig(t, name))
	if _, err := pgstore.Open(t.Context(), pool, pgstore.Options{}); !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), " has no tables of Postbag") ||
		!strings.Contains(err.Error(), pool.Config().ConnConfig.Database) {
		t.Errorf("it is opened with %v", err)
	}
	config := plainConfig(t, name)
	config.ConnConfig.Database = "" // the one that has the name of the user
	_, err := pgstore.Open(t.Context(), newPool(t, config), pgstore.Options{})
	if want := `database "` + config.ConnConfig.User + `" has no tables`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("without the name of a database it is opened with %v", err)
	}
}
