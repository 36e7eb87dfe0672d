package sqlitestore_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/sqlitestore"
)

func TestAnAppenderPublishesInTransactionsOfTheApplicationAndWakes(t *testing.T) {
	t.Parallel()
	f := open(t)
	var woken atomic.Int64
	a, err := sqlitestore.OpenAppender(t.Context(), openDSN(t, sqlitestore.DSN(f.path)), sqlitestore.AppenderOptions{
		Wake: func(string) { woken.Add(1) },
	})
	f.check(err)
	p, err := postbag.NewPublisher(a, postbag.PublisherOptions{})
	f.check(err)
	m := postbag.Message{ID: postbag.NewID(), Topic: "t", Key: "k", Payload: []byte("p")}
	f.check(p.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error { return p.Publish(ctx, tx, m) }))
	if found, err := f.Show(t.Context(), "outbox", m.ID); err != nil || len(found) == 0 {
		t.Errorf("the message is not there: %v", err)
	}
	if woken.Load() != 1 {
		t.Errorf("one commit has woken %d times", woken.Load())
	}
	given := errors.New("given up")
	m.ID = postbag.NewID()
	err = p.InTx(t.Context(), func(ctx context.Context, tx postbag.SQLTx) error { return errors.Join(p.Publish(ctx, tx, m), given) })
	if found, _ := f.Show(t.Context(), "outbox", m.ID); !errors.Is(err, given) || len(found) > 0 {
		t.Errorf("a transaction that was given up ended with %v and left %d messages", err, len(found))
	}
}

func TestAnAppenderOfWhatIsNotThereIsRefusedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	if _, err := sqlitestore.OpenAppender(t.Context(), nil, sqlitestore.AppenderOptions{}); err == nil || !strings.Contains(err.Error(), "db is nil") {
		t.Errorf("no db: %v", err)
	}
	db := openDSN(t, sqlitestore.DSN(filepath.Join(t.TempDir(), "empty.db")))
	if _, err := sqlitestore.OpenAppender(t.Context(), db, sqlitestore.AppenderOptions{}); !errors.Is(err, store.ErrSchema) {
		t.Errorf("a file without a schema: %v", err)
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sqlite_master").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d tables were made: %v", n, err)
	}
}
