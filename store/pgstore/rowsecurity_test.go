package pgstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// hiddenRows says that an error is about rows that would not be seen.
func hiddenRows(err error) bool {
	return err != nil && strings.Contains(err.Error(), "row-level security") && strings.Contains(err.Error(), "BYPASSRLS")
}

// Who does not see a row passes it. So a role that is subject to row-level security gets an error from everything, no matter who
// switched it on, and on whatever way to the server; and when it is off again, all is delivered.
func TestRowLevelSecurityHidesNoMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		owner, pooled bool
	}{{"a relay's role", false, false}, {"the owner, by force", true, false}, {"behind a pooler", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newTestBox(t)
			s.publish(boxtest.Messages(5, "a")...)
			s.Deliver()
			role := s.name + "_r"
			of := s.role(role, pgstore.GrantRelay(role))
			if c.owner {
				s.exec("ALTER TABLE postbag.outbox OWNER TO " + role)
			}
			if c.pooled {
				pooler := servertest.PgBouncer(t, shared.Server(t), testserver.PgBouncerOptions{PoolSize: 4, Users: map[string]string{role: "x"}})
				of = newFixture(t, of.dsn, withoutCreate, func(c *pgxpool.Config, _ *pgstore.Options) {
					c.ConnConfig.Port, c.ConnConfig.DefaultQueryExecMode = uint16(pooler.Port()), pgx.QueryExecModeExec
				})
			}
			r := s.on(of)
			want := map[postbag.ID]bool{}
			publish := func() {
				for _, m := range s.publish(boxtest.Messages(5, "a")...) {
					want[m.ID] = true
				}
			}
			publish()
			s.exec("ALTER TABLE postbag.outbox ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
			r.seesNothing(t)
			publish()
			s.exec("ALTER TABLE postbag.outbox DISABLE ROW LEVEL SECURITY")
			for _, m := range r.Deliver() {
				delete(want, m.ID)
			}
			if len(want) > 0 {
				t.Errorf("%d of 10 messages do not come when it is off again", len(want))
			}
			if c.owner {
				s.exec("ALTER TABLE postbag.outbox OWNER TO CURRENT_USER")
			}
		})
	}
}

// seesNothing has everything fail that reads the log.
func (s *testBox) seesNothing(t *testing.T) {
	t.Helper()
	for range 40 { // those that find nothing are sent in another way after a while
		res, err := s.Turn(t.Context(), store.Turn{Read: []store.Request{boxtest.Request(outbox, s.At, 100)}})
		if err == nil {
			err = res.Batches[0].Err
		}
		if !hiddenRows(err) {
			t.Fatalf("a turn says %v", err)
		}
	}
	_, _, err := s.List(t.Context(), store.Query{Ref: outbox})
	_, shown := s.Show(t.Context(), "outbox", postbag.NewID())
	_, seen := s.Overview(t.Context())
	_, due := s.Due(t.Context(), store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20})
	for what, err := range map[string]error{"List": err, "Show": shown, "Overview": seen, "Due": due} {
		if !hiddenRows(err) {
			t.Errorf("%s says %v", what, err)
		}
	}
}

// The same for Postbag's own tables, of which one that is filtered would stop relays, or have them forget what is parked.
func TestRowLevelSecurityHidesNothingThatPostbagKeeps(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	r := s.on(s.role(s.name+"_r", pgstore.GrantRelay(s.name+"_r")))
	if _, err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for table, ask := range map[string]func() error{
		"_parked": func() error {
			_, err := r.Blocked(t.Context(), r.Lease)
			return err
		},
		"_shards": func() error {
			_, err := r.Beat(t.Context(), store.Beat{Relay: "x", New: true, TTL: 1e9, Works: []store.Ref{outbox}})
			return err
		},
		"_commands": func() error {
			res, err := r.Turn(t.Context(), store.Turn{Read: []store.Request{boxtest.Request(outbox, r.At, 100)}})
			if err == nil {
				err = res.Batches[0].Err
			}
			return err
		},
		"_life": func() error {
			_, err := r.Check(t.Context())
			return err
		},
		"outbox__scheduled": func() error {
			_, err := r.Maintain(t.Context(), store.Retention{Lease: r.House, Keep: r.Keep})
			return err
		},
	} {
		s.exec("ALTER TABLE postbag." + table + " ENABLE ROW LEVEL SECURITY")
		if err := ask(); !hiddenRows(err) {
			t.Errorf("with row-level security for %s: %v", table, err)
		}
		s.exec("ALTER TABLE postbag." + table + " DISABLE ROW LEVEL SECURITY")
		if err := ask(); err != nil {
			t.Errorf("without it for %s: %v", table, err)
		}
	}
}

// A console under row-level security gets errors, and sees all with BYPASSRLS; it changes nothing either way.
func TestAConsoleNeedsBypassRLSUnderRowLevelSecurity(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	s.publish(boxtest.Messages(3, "a")...)
	s.Deliver()
	role := s.name + "_c"
	c := s.on(s.role(role, pgstore.GrantConsole(role)))
	looks := func() []error {
		_, list := c.listed()
		_, shown := c.Show(t.Context(), "outbox", postbag.NewID())
		_, seen := c.Overview(t.Context())
		return []error{list, shown, seen}
	}
	s.Must(errors.Join(looks()...))
	_, err := c.Audited(t.Context(), 10)
	s.Must(err)
	s.exec("ALTER TABLE postbag.outbox ENABLE ROW LEVEL SECURITY")
	for i, err := range looks() {
		if !hiddenRows(err) {
			t.Errorf("look %d says %v", i, err)
		}
	}
	s.exec("ALTER ROLE " + role + " BYPASSRLS")
	if n, err := c.listed(); n != 3 || err != nil {
		t.Errorf("%d messages are listed: %v", n, err)
	}
	s.Must(errors.Join(looks()...))
	for _, sql := range []string{
		"DELETE FROM postbag.outbox", "UPDATE postbag._shards SET position = ''", "INSERT INTO postbag.outbox (topic) VALUES ('t')",
		"INSERT INTO postbag._life (life) VALUES (0)", "DELETE FROM postbag._audit", "SELECT nextval('postbag.outbox__seq')",
		"SELECT postbag.outbox__cancel('00000000-0000-0000-0000-000000000001')",
	} {
		if _, err := c.plain.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("a console may %s: %v", sql, err)
		}
	}
}

// listed counts the messages that List shows.
func (s *testBox) listed() (int, error) {
	items, _, err := s.List(s.Context(), store.Query{Ref: outbox, Limit: 10})
	return len(items), err
}

// Policies of one's own: a producer publishes what they let it, a relay and anyone who looks have BYPASSRLS.
func TestRowLevelSecurityPoliciesOfTheApplicationApplyToProducers(t *testing.T) {
	t.Parallel()
	s := newTestBox(t)
	rights, err := pgstore.GrantProducer(s.name+"_p", "outbox")
	s.Must(err)
	producer := s.role(s.name+"_p", rights)
	r := s.on(s.role(s.name+"_r", "ALTER ROLE "+s.name+"_r BYPASSRLS;"+pgstore.GrantRelay(s.name+"_r")))
	s.exec("ALTER TABLE postbag.outbox ENABLE ROW LEVEL SECURITY")
	s.exec("CREATE POLICY own ON postbag.outbox FOR INSERT TO " + s.name + "_p WITH CHECK (topic = 'own')")
	conn, err := pgx.Connect(t.Context(), producer.dsn)
	s.Must(err)
	_, foreign := conn.Exec(t.Context(), "INSERT INTO postbag.outbox (topic) VALUES ('other')")
	_, own := conn.Exec(t.Context(), "INSERT INTO postbag.outbox (topic) VALUES ('own')")
	if foreign == nil || own != nil {
		t.Errorf("what the policy forbids gives %v, what it allows %v", foreign, own)
	}
	s.Must(conn.Close(t.Context()))
	s.exec("DROP POLICY own ON postbag.outbox")
	if got := r.Deliver(); len(got) != 1 || got[0].Topic != "own" {
		t.Errorf("%d messages come, not the one", len(got))
	}
	if _, _, err := r.List(t.Context(), store.Query{Ref: outbox}); err != nil {
		t.Errorf("List says %v", err)
	}
}
