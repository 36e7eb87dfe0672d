package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// appendRows is how many rows one INSERT writes. The driver looks for each of a
// statement's parameters among all of them, so that more rows would cost more.
const appendRows = 16

// Append writes msgs to box in tx; see [postbag.Appender]. SQLite runs in this
// process: there is no round trip to save, and a statement has up to 16 rows.
func (s *Store) Append(ctx context.Context, tx postbag.SQLTx, box string, msgs []postbag.Message) error {
	doing := "append to box " + box
	if err := postbag.ValidBox(box); err != nil {
		return translateError(doing, store.ErrNoBox)
	}
	now := s.now()
	ready := make([]*postbag.Message, 0, min(len(msgs), appendRows))
	for i := range msgs {
		m := &msgs[i]
		if m.NotBefore.After(now) {
			if err := s.schedule(ctx, tx, box, m); err != nil {
				return translateError("schedule in box "+box, err)
			}
			continue
		}
		if ready = append(ready, m); len(ready) == appendRows {
			if err := s.insert(ctx, tx, box, now, ready); err != nil {
				return translateError(doing, err)
			}
			ready = ready[:0]
		}
	}
	return translateError(doing, s.insert(ctx, tx, box, now, ready))
}

// insert writes up to appendRows messages to the log. It gives the time, which
// the default would have to compute for each row.
func (s *Store) insert(ctx context.Context, tx postbag.SQLTx, box string, now time.Time, msgs []*postbag.Message) error {
	if len(msgs) == 0 {
		return nil
	}
	args := make([]any, 0, 8*len(msgs))
	for _, m := range msgs {
		headers, err := storekit.HeadersText(m.Headers)
		if err != nil {
			return err
		}
		args = append(args, m.ID[:], now.UnixMicro(), topicOf(box, m), m.Key, m.ShardKey, m.Type, nullable(headers), m.Payload)
	}
	return s.execIn(ctx, tx, s.comments.Publisher, fmt.Sprintf(sqlAppend, quoted(box))+sqlAppendRow+strings.Repeat(", "+sqlAppendRow, len(msgs)-1), args)
}

// execIn runs a statement in an application's transaction, with a comment behind it.
func (s *Store) execIn(ctx context.Context, tx postbag.SQLTx, comment, text string, args []any) error {
	st, err := s.statementIn(ctx, tx, comment, text)
	if err == nil {
		_, err = st.ExecContext(ctx, args...)
	}
	return err
}

// statementIn returns a statement for an application's transaction: prepared once and
// for all, if it is one that InTx began on the store's own connections.
func (s *Store) statementIn(ctx context.Context, tx postbag.SQLTx, comment, text string) (statement, error) {
	own, ok := tx.(*sql.Tx)
	if !s.owned || !ok || own != s.running.Load() {
		return unprepared{conn: tx, text: text + comment}, nil
	}
	st, err := s.statements.get(ctx, s.pool(), text, comment)
	if err != nil {
		return nil, err
	}
	if prepared, ok := st.(*sql.Stmt); ok {
		return own.StmtContext(ctx, prepared), nil // it ends with own
	}
	return unprepared{conn: own, text: text + comment}, nil
}

func (s *Store) schedule(ctx context.Context, tx postbag.SQLTx, box string, m *postbag.Message) error {
	headers, err := storekit.HeadersText(m.Headers)
	if err != nil {
		return err
	}
	result, err := tx.ExecContext(ctx, sqlSchedule+s.comments.Publisher, box, m.NotBefore.UnixMicro(), s.micros(),
		m.ID[:], topicOf(box, m), m.Key, m.ShardKey, m.Type, nullable(headers), m.Payload)
	if err != nil {
		return err
	}
	if made, err := result.RowsAffected(); err == nil && made == 0 {
		return store.ErrNoBox
	}
	return nil
}

// nullable stores no headers as null.
func nullable(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }

func topicOf(box string, m *postbag.Message) string {
	if m.Topic == "" {
		return box
	}
	return m.Topic
}

// Lock does nothing: a write transaction has the only writer lock there is.
func (s *Store) Lock(context.Context, postbag.SQLTx, string, []string) error { return nil }

// Cancel removes a scheduled message that is not yet due; see [postbag.Appender].
func (s *Store) Cancel(ctx context.Context, tx postbag.SQLTx, box string, id postbag.ID) (bool, error) {
	result, err := tx.ExecContext(ctx, sqlCancel+s.comments.Publisher, box, id[:], s.micros())
	if err != nil {
		return false, translateError("cancel in box "+box, err)
	}
	gone, err := result.RowsAffected()
	return gone > 0, translateError("cancel in box "+box, err)
}
