package adapters

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/integration/chaos"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestARelayThatHoldsALockThatAProducerWaitsForIsSeen(t *testing.T) {
	t.Parallel()
	d, err := Postgres{}.Start(t.Context(), chaos.Terms{Dir: t.TempDir()})
	servertest.Need(t, err)
	t.Cleanup(func() { _ = d.Close() })
	w, ok := d.(chaos.Watched)
	if !ok {
		t.Fatal("it cannot be watched")
	}
	session := func(role chaos.Role) *pgx.Conn {
		c, err := pgx.Connect(t.Context(), d.DSN(role))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
		return c
	}
	watch := func() (open, waited time.Duration) {
		open, waited, err := w.Watch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return open, waited
	}
	if open, waited := watch(); open != 0 || waited != 0 {
		t.Errorf("at rest a transaction is open for %v, and somebody has waited for %v", open, waited)
	}
	relay, err := session(chaos.Relays).Begin(t.Context())
	if err == nil {
		_, err = relay.Exec(t.Context(), `LOCK TABLE placed`)
	}
	if err != nil {
		t.Fatal(err)
	}
	done, producer := make(chan error, 1), session(chaos.Producers)
	go func() {
		_, err := producer.Exec(t.Context(), `INSERT INTO placed VALUES ('a', true)`)
		done <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := chaos.Until(ctx, func() bool {
		open, waited := watch()
		return open > 10*time.Millisecond && waited > 10*time.Millisecond
	}); err != nil {
		t.Error("neither the open transaction nor the wait was seen")
	}
	if err := relay.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if open, waited := watch(); open != 0 || waited != 0 {
		t.Errorf("afterwards a transaction is open for %v, and somebody has waited for %v", open, waited)
	}
}
