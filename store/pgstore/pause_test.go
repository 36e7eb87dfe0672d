package pgstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

// A removal has locked the subscription and waits for a settlement. Who changes a pause meanwhile waits for the subscription, or leaves it,
// and holds nothing that the removal wants next.
func TestAPauseThatEndsAndARemovalDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	by := store.Audit{Who: "an operator", Why: "the test"}
	pause := store.Pause{Ref: outbox, Scope: store.PauseSubscription}
	for name, change := range map[string]func(s *testBox) error{
		"a heartbeat ends it": func(s *testBox) error {
			_, err := s.Beat(context.WithoutCancel(s.Context()), store.Beat{Relay: "another", TTL: time.Minute, New: true})
			return err
		},
		"an operator ends it": func(s *testBox) error {
			_, err := s.EndPause(context.WithoutCancel(s.Context()), by, pause)
			return err
		},
		"an operator changes it": func(s *testBox) error { return s.SetPause(context.WithoutCancel(s.Context()), by, pause, time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTestBox(t)
			s.Must(s.SetPause(t.Context(), by, pause, time.Hour))
			s.exec(`UPDATE postbag._pauses SET ends = clock_timestamp() - interval '1 second'`)
			settling, err := s.plain.Begin(t.Context())
			s.Must(err)
			_, err = settling.Exec(t.Context(), `SELECT FROM postbag._shards FOR UPDATE`)
			s.Must(err)
			removed, changed := make(chan error, 1), make(chan error, 1)
			go func() { removed <- s.Remove(context.WithoutCancel(t.Context()), by, outbox, true) }()
			waiting := func() int64 {
				return s.number(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
			}
			s.Eventually("the removal waits for the settlement", func() bool { return waiting() == 1 })
			go func() { changed <- change(s) }()
			s.Eventually("the change waits too, or is made", func() bool { return waiting() == 2 || len(changed) == 1 })
			if n := s.number(`SELECT count(*) FROM (SELECT FROM postbag._pauses FOR UPDATE SKIP LOCKED) p`); n != 1 {
				t.Error("the pause is locked by one who waits for its subscription: the removal will wait for that one")
			}
			s.Must(settling.Rollback(t.Context()))
			s.Must(<-removed)
			if err := <-changed; err != nil && !errors.Is(err, store.ErrNoSubscription) {
				t.Errorf("the change ends with %v", err)
			}
			if n := s.number(`SELECT count(*) FROM postbag._pauses`); n != 0 {
				t.Errorf("%d pauses of a subscription that is gone are left", n)
			}
		})
	}
}
