package adapters

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/chaos"
	"github.com/postbag/postbag/store"
)

// opened is what an adapter's Open returns of a store that closes itself.
func opened[S interface {
	store.Store
	Close() error
}](s S, err error) (store.Store, func() error, error) {
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

// insert publishes in SQL, where placeholders are question marks and ids bytes: text is the INSERT up to its values.
func insert(ctx context.Context, tx postbag.SQLTx, text string, msgs []postbag.Message) error {
	rows, args := make([]string, len(msgs)), []any{}
	for i := range msgs {
		m := &msgs[i]
		headers, err := json.Marshal(m.Headers)
		if err != nil {
			return err
		}
		rows[i] = "(?, ?, ?, ?, ?, ?)"
		args = append(args, m.ID[:], m.Topic, m.Type, m.Key, string(headers), m.Payload)
	}
	_, err := tx.ExecContext(ctx, text+strings.Join(rows, ", "), args...)
	return err
}

// writer is a chaos.Writer over a publisher of any kind of transaction.
type writer[Tx any] struct {
	pub *postbag.Publisher[Tx]
	// mark inserts the row that names a transaction.
	mark func(ctx context.Context, tx Tx, name string) error
	// plain publishes with an INSERT in SQL.
	plain func(ctx context.Context, tx Tx, msgs []postbag.Message) error
	// undone runs publish in a savepoint that rolls back.
	undone func(ctx context.Context, tx Tx, publish func(Tx) error) error
	stands func(ctx context.Context, name string) (bool, error)
	close  func() error
}

// errRollback makes a transaction roll back.
var errRollback = errors.New("rolled back on purpose")

// Write implements chaos.Writer.
func (w *writer[Tx]) Write(ctx context.Context, t *chaos.Transaction) error {
	err := w.pub.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if err := w.mark(ctx, tx, t.Name); err != nil {
			return err
		}
		if t.Undone != nil {
			if err := w.undone(ctx, tx, func(tx Tx) error { return w.pub.Publish(ctx, tx, *t.Undone) }); err != nil {
				return err
			}
		}
		if err := w.publish(ctx, tx, t); err != nil {
			return err
		}
		if err := chaos.Pause(ctx, t.Delay); err != nil {
			return err
		}
		if t.Rollback {
			return errRollback
		}
		return nil
	})
	if t.Rollback && errors.Is(err, errRollback) {
		return nil
	}
	return err
}

func (w *writer[Tx]) publish(ctx context.Context, tx Tx, t *chaos.Transaction) error {
	if t.Plain {
		return w.plain(ctx, tx, t.Messages)
	}
	return w.pub.Publish(ctx, tx, t.Messages...)
}

// Cancel implements chaos.Writer.
func (w *writer[Tx]) Cancel(ctx context.Context, t *chaos.Transaction, id postbag.ID) (could bool, err error) {
	err = w.pub.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		if err := w.mark(ctx, tx, t.Name); err != nil {
			return err
		}
		could, err = w.pub.Cancel(ctx, tx, id)
		return err
	})
	return could, err
}

// Stands implements chaos.Writer.
func (w *writer[Tx]) Stands(ctx context.Context, name string) (bool, error) {
	return w.stands(ctx, name)
}

// Close implements chaos.Writer.
func (w *writer[Tx]) Close() error { return w.close() }
