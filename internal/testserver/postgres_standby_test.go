package testserver_test

import (
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestStandbyTakesOverFromAKilledSynchronousPrimaryWithEveryCommit(t *testing.T) {
	t.Parallel()
	slow(t)
	primary := servertest.Postgres(t, testserver.PostgresOptions{})
	query(t, primary, "CREATE TABLE kept (n int)")
	standby := servertest.Standby(t, primary, testserver.StandbyOptions{Synchronous: true})
	if !standby.IsStandby() || query(t, standby, "SELECT pg_is_in_recovery()") != "t" {
		t.Fatal("the standby is none")
	}
	for range 20 {
		query(t, primary, "INSERT INTO kept VALUES (1)")
	}
	if err := primary.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if standby.IsStandby() {
		t.Error("a promoted server still calls itself a standby")
	}
	if got := query(t, standby, "SELECT count(*) FROM kept; INSERT INTO kept VALUES (2) RETURNING n"); got != "20\n2" {
		t.Errorf("count and insert after the promotion are %q, want 20 and 2", got)
	}
}

func TestStandbyFreezesASynchronousPrimary(t *testing.T) {
	t.Parallel()
	slow(t)
	primary := servertest.Postgres(t, testserver.PostgresOptions{})
	standby := servertest.Standby(t, primary, testserver.StandbyOptions{Name: "Odd name", Synchronous: true})
	if err := standby.Pause(); err != nil {
		t.Fatal(err)
	}
	committed := make(chan error, 1)
	go func() {
		_, err := primary.Exec(t.Context(), "postgres", "CREATE TABLE late (n int)")
		committed <- err
	}()
	await(t, "the wait for the standby", func() bool {
		return query(t, primary, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1"
	})
	if err := standby.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-committed; err != nil {
		t.Error(err)
	}
}

func TestStandbyOfAKilledPrimaryCannotBeMade(t *testing.T) {
	t.Parallel()
	slow(t)
	primary := servertest.Postgres(t, testserver.PostgresOptions{})
	if err := primary.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := testserver.StartStandby(t.Context(), primary, testserver.StandbyOptions{})
	if err == nil || !strings.Contains(err.Error(), "pg_basebackup") {
		t.Errorf("the error does not say what failed: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), primary.Password()) {
		t.Error("the error holds the password")
	}
}
