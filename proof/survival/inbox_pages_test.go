package survival

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/relay"
)

// As with a handler of single messages, but no message has a mark, and a transaction has the effects of many and their record. A message that
// fails at each first attempt has its page rolled back, and all of it is there once.
func TestRelaysWithPagesThatAreKilledApplyEachMessageOnceAndInOrder(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	both := postgresBase(t)
	survivePages(t, both, both)
}

// The transaction of the effects and that of the settlement are in two databases. Either can be there without the other: each is restarted.
func TestPagesFromABoxInPostgreSQLAreAppliedOnceInMariaDB(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	survivePages(t, postgresBase(t), mariadbBase(t))
}

func TestPagesFromABoxInMariaDBAreAppliedOnceInPostgreSQL(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	if !full() {
		t.Skip("POSTBAG_FULL is not set: the same the other way round is tried alone")
	}
	survivePages(t, mariadbBase(t), postgresBase(t))
}

func TestPagesFromABoxInSQLiteAreAppliedOnceInAnotherFile(t *testing.T) { //nolint:paralleltest // it has the machine to itself
	survivePages(t, sqliteBase(t), sqliteBase(t))
}

// survivePages kills relays that apply a box's messages in another base, or in the same, and restarts what has a server.
func survivePages(t *testing.T, from, to *base) {
	t.Helper()
	w := &world{t: t, nats: servertest.NATS(t, testserver.NATSOptions{})}
	w.addStream(jetstream.StreamConfig{})
	n, subjects, most := 5000, 500, 5
	if full() {
		n, most = 50_000, 20
	}
	to.createEffects(subjects)
	w.fillStream(n, subjects)
	var restarts []func(context.Context) error
	for _, b := range []*base{to, from} {
		if b.restart != nil {
			restarts = append(restarts, b.restart)
		}
	}
	kills := w.killRelays(func() *exec.Cmd {
		return w.startProcess("pages", from.kind, from.dsn, to.kind, to.dsn, w.nats.URL())
	}, to.applied, restarts, n, most)
	w.awaitIdle(3*time.Minute, func() bool { return to.applied() >= n })
	t.Logf("%d messages of %s were applied in %s while relays were killed %d times", n, from.kind, to.kind, kills)
	if kills < 3 {
		t.Errorf("relays were killed only %d times: nothing was shown", kills)
	}
	counted, marks, lanes := to.number("select count(*) from effects where attempt > 1"), to.marked(), to.lanes()
	if counted != n/failing || marks > 0 || lanes != 1 {
		t.Errorf("attempts of %d messages are counted, want %d; %d have marks; %d lanes have a record, want 1", counted, n/failing, marks, lanes)
	}
	to.judge(n, true)
}

// workPages stores what the stream has in the box of one base, and has a relay apply it in another. It takes the kind and the DSN of both, and
// the URL of NATS.
func workPages(ctx context.Context, settings []string) error {
	from, err := awaitPlace(ctx, settings[0], settings[1])
	if err != nil {
		return err
	}
	to := from
	if settings[1] != settings[3] {
		if to, err = awaitPlace(ctx, settings[2], settings[3]); err != nil {
			return err
		}
	}
	d, err := to.pages()
	if err != nil {
		return err
	}
	r, err := relay.New(from.box(), relay.Options{TTL: ttl, Subscriptions: []relay.Subscription{{
		Box: "inbox", To: d, ExactlyOnce: true, Batch: 200, Retry: relay.Retry{Min: 10 * time.Millisecond, MaxAttempts: 100},
	}}})
	if err != nil {
		return fmt.Errorf("work the box: %w", err)
	}
	received := make(chan error, 1)
	go func() { received <- from.receive(ctx, settings[4]) }()
	err = r.Run(ctx)
	return errors.Join(err, <-received)
}
