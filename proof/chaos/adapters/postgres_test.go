package adapters

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/chaos"
)

func TestProducersReachTheNewPrimaryAfterEachPromotion(t *testing.T) {
	t.Parallel()
	p, ok := begin(t, Postgres{}, promotion).(*postgres)
	if !ok || len(p.producers) != 2 {
		t.Fatal("there is no standby")
	}
	for n := range 3 {
		if p.leading() != p.producers[n%2] {
			t.Errorf("after %d promotions the wire leads to the standby", n)
		}
		if n < 2 {
			if err := p.promote(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAKilledPrimaryShowedNoRowThatItsStandbyLacks(t *testing.T) {
	t.Parallel()
	p, ok := begin(t, Postgres{}, promotion).(*postgres)
	if !ok || p.standby == nil {
		t.Fatal("there is no standby")
	}
	// A session that is busy with a statement ends it, though its server is dead.
	if err := p.exec(t.Context(), `CREATE FUNCTION await_row() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
	FOR i IN 1..1000000 LOOP
		IF EXISTS (SELECT FROM placed) THEN RETURN 1; END IF;
		IF clock_timestamp() > now() + interval '3 s' THEN RETURN 0; END IF;
	END LOOP;
	RETURN 0;
END $$`); err != nil {
		t.Fatal(err)
	}
	reader, err := open(t, "pgx", p.DSN(chaos.Relays)).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }() // it is broken by then
	if err := p.standby.Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	writer := open(t, "pgx", p.DSN(chaos.Producers))
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		_, _ = writer.ExecContext(ctx, `INSERT INTO placed VALUES ('waits', true)`) // it gets no answer
	}()
	if err := chaos.Until(ctx, func() bool {
		out, err := p.server().Exec(ctx, "postgres", `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
		return err == nil && strings.TrimSpace(out) == "1"
	}); err != nil {
		t.Fatal("nobody waits for the standby")
	}
	ended := make(chan int)
	go func() {
		seen := 0
		_ = reader.QueryRowContext(ctx, `SELECT await_row()`).Scan(&seen) // it is cut off
		ended <- seen
	}()
	if err := chaos.Until(ctx, func() bool {
		out, err := p.server().Exec(ctx, "postgres", `SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%await_row()'`)
		return err == nil && strings.TrimSpace(out) == "1"
	}); err != nil {
		t.Fatal("nobody reads")
	}
	if err := p.die(ctx, p.server()); err != nil {
		t.Fatal(err)
	}
	if seen := <-ended; seen != 0 {
		t.Error("what only the dying server had was seen")
	}
	cancel()
	<-wrote
	if err := p.standby.Resume(); err != nil {
		t.Error(err)
	}
}
