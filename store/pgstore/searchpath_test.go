package pgstore_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postbag/postbag/internal/boxtest"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/pgstore"
)

// traps puts into the schema public, for each function of the server's that our SQL names and for each operator, others that fit
// other types of arguments better: a statement whose arguments are of these types calls them. They end it.
const traps = `DO $traps$
DECLARE
  r record; l text; rt text; made integer := 0;
  nearby CONSTANT jsonb := '{"text": ["varchar"], "numeric": ["integer", "bigint"], "int8": ["integer"], "float8": ["bigint", "integer"], "any": ["text", "varchar"]}';
BEGIN
  FOR r IN SELECT o.oprname AS name, lt.typname AS l, rt.typname AS r, o.oprresult::regtype::text AS result FROM pg_operator o
    JOIN pg_type lt ON lt.oid = o.oprleft JOIN pg_type rt ON rt.oid = o.oprright
    WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND (nearby ? lt.typname OR nearby ? rt.typname)
  LOOP
    FOR l, rt IN SELECT a.t, b.t FROM jsonb_array_elements_text(coalesce(nearby -> r.l, '[]') || to_jsonb(r.l)) a(t),
      jsonb_array_elements_text(coalesce(nearby -> r.r, '[]') || to_jsonb(r.r)) b(t)
    LOOP
      BEGIN
        CONTINUE WHEN EXISTS (SELECT FROM pg_operator o WHERE o.oprname = r.name AND o.oprleft = l::regtype AND o.oprright = rt::regtype);
        EXECUTE format('CREATE OR REPLACE FUNCTION public.trap_operator(%s, %s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION ''led by an operator of %s, %s''; END $f$', l, rt, r.result, l, rt);
        EXECUTE format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.trap_operator)', r.name, l, rt);
        made := made + 1;
      EXCEPTION WHEN OTHERS THEN NULL; -- one function cannot have two results
      END;
    END LOOP;
  END LOOP;
  FOR r IN SELECT DISTINCT p.proname AS name, p.pronargs AS n, array_to_string(ARRAY(SELECT t.typname FROM unnest(p.proargtypes) WITH ORDINALITY a(o, i) JOIN pg_type t ON t.oid = a.o ORDER BY a.i), ',') AS args,
      p.prorettype::regtype::text AS result FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.pronargs BETWEEN 1 AND 4 AND p.proname = ANY (string_to_array('{names}', ','))
  LOOP
    FOR l IN SELECT string_agg(coalesce(nearby -> a ->> v, a), ',' ORDER BY i) FROM generate_series(0, 1) v, unnest(string_to_array(r.args, ',')) WITH ORDINALITY u(a, i) GROUP BY v
    LOOP
      BEGIN
        CONTINUE WHEN l = r.args;
        FOR rt IN SELECT l || repeat(',' || CASE WHEN position('varchar' IN l) > 0 THEN 'varchar' ELSE 'text' END, g) FROM generate_series(0, CASE WHEN r.args LIKE '%any%' THEN 2 ELSE 0 END) g LOOP
          EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION ''led by the function %s(%s)''; END $f$', r.name, rt, r.result, r.name, rt);
          made := made + 1;
        END LOOP;
      EXCEPTION WHEN OTHERS THEN NULL;
      END;
    END LOOP;
  END LOOP;
  IF made < 200 THEN
    RAISE EXCEPTION 'only % traps', made;
  END IF;
END $traps$`

// trapped lays traps in a database.
func trapped(t *testing.T, dsn string) {
	t.Helper()
	names := map[string]bool{}
	for _, folder := range []string{"query", "schema"} {
		files, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(folder + "/" + f.Name())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`([a-z_0-9]+)\(`).FindAllSubmatch(text, -1) {
				names[string(m[1])] = true
			}
		}
	}
	var list []string
	for name := range names {
		list = append(list, name)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), strings.Replace(traps, "{names}", strings.Join(list, ","), 1)); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"SELECT 1.5 * 2", "SELECT length('a'::varchar)"} {
		if _, err := conn.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "led by") {
			t.Fatalf("%s is not led: %v", sql, err)
		}
	}
}

// Who may create in a schema that a role of ours looks into, as every role may in public before PostgreSQL 15, and the role that owns the
// application's tables there, runs nothing with our rights: not of who migrates, of a relay, nor of who looks and orders.
func TestFunctionsAndOperatorsOfOtherSchemasAreNotCalled(t *testing.T) {
	t.Parallel()
	dsn := shared.Database(t)
	old := newFixture(t, dsn, func(_ *pgxpool.Config, o *pgstore.Options) { *o = pgstore.Options{Unmigrated: true} })
	_, missing, err := old.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	box, err := os.ReadFile("testdata/box_v1.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{missing[0].SQL, string(box)} {
		if _, err := old.plain.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	trapped(t, dsn)
	if _, err := old.Migrate(t.Context()); err != nil {
		t.Fatalf("migrate: %v", err)
	}
	s := testBoxOn(t, dsn)
	s.Must(s.CreateBox(t.Context(), "another"))
	later := boxtest.Messages(2, "k")
	later[0].NotBefore, later[1].NotBefore = time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	s.publish(later...)
	s.publish(boxtest.Messages(6, "a", "b", "c")...)
	s.exec("INSERT INTO postbag.outbox (key, shard_key, type, payload, headers) VALUES ('d', 'e', 'order.made', 'x', '{\"a\":\"b\"}'), ('d', '', '', 'x', NULL)")
	s.exec("INSERT INTO postbag.outbox__scheduled (due, key) VALUES (now(), 'x')")
	s.Declare(store.Spec{Ref: store.Ref{Box: "outbox", Subscription: "filtered"}, Types: []string{"order.*", "x"}, Shards: 4})
	s.Housekeep()
	records := s.Read()
	for range 40 { // those that find nothing are sent in another way after a while
		s.Read()
	}
	if len(records) < 4 {
		t.Fatalf("%d messages come", len(records))
	}
	a := store.Audit{Who: "x", Why: "y"}
	var park []store.Park
	for i, state := range []store.ParkState{store.ParkDead, store.ParkRetrying, store.ParkBlocked, store.ParkHeld} {
		r := records[i]
		park = append(park, store.Park{Seq: r.Seq, Slot: r.Slot, Hash: r.Hash, State: state, Blocking: true, Reason: "z", Topic: r.Topic})
	}
	s.Settle(&s.Lease, store.Settlement{To: s.At, Park: park})
	_, err = s.Due(t.Context(), store.Due{Ref: outbox, Slots: []store.Slots{store.AllSlots}, Limit: 10, Bytes: 1 << 20, Topics: []string{records[3].Topic}})
	s.Must(err)
	s.called(t, a, records)
}

// called calls what operators have, and what comes after a log was numbered again.
func (s *testBox) called(t *testing.T, a store.Audit, records []store.Record) {
	t.Helper()
	_, _, err := s.List(t.Context(), store.Query{Ref: outbox, Type: "order.*", Topic: "orders", Key: "a", Limit: 10})
	s.Must(err)
	_, err = s.Show(t.Context(), "outbox", records[0].ID)
	s.Must(err)
	_, err = s.Overview(t.Context())
	s.Must(err)
	_, err = s.Command(t.Context(), a, outbox, store.Discard, []int64{records[0].Seq})
	s.Must(err)
	_, err = s.Audited(t.Context(), 5)
	s.Must(err)
	s.Housekeep()
	s.exec("DELETE FROM postbag.outbox")
	s.exec("SELECT pg_catalog.setval('postbag.outbox__seq'::regclass, 1::bigint, false)")
	s.exec("INSERT INTO postbag.outbox (key) VALUES ('a')")
	if _, err := s.Check(t.Context()); err != nil && strings.Contains(err.Error(), "led by") {
		t.Error(err)
	}
}
