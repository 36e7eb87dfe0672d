package adapters

import (
	"context"
	"database/sql"
	"encoding/json"
	"math/rand/v2"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/chaos"
)

// inLog does something to the log in one transaction of a stranger's.
func (f *sqlite) inLog(ctx context.Context, do func(context.Context, *sql.Conn) error) error {
	err := f.stranger(ctx, func(ctx context.Context, conn *sql.Conn) error {
		// Checks are those of a session: one may switch them off.
		for _, text := range []string{"PRAGMA ignore_check_constraints = true", "BEGIN IMMEDIATE"} {
			if _, err := conn.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		err := do(ctx, conn)
		if err != nil {
			_, _ = conn.ExecContext(ctx, "ROLLBACK") // what failed is told
			return err
		}
		_, err = conn.ExecContext(ctx, "COMMIT")
		return err
	})
	if isBusy(err) {
		return chaos.ErrGivenUp
	}
	return err
}

// Plant implements chaos.Damageable: headers that SQLite's JSON5 takes, and no other reader.
func (f *sqlite) Plant(ctx context.Context, msgs []postbag.Message, bad int) error {
	return f.inLog(ctx, func(ctx context.Context, conn *sql.Conn) error {
		for i := range msgs {
			m := &msgs[i]
			headers, err := json.Marshal(m.Headers)
			if err != nil {
				return err
			}
			if i == bad {
				headers = []byte(`{a:'b'}`)
			}
			_, err = conn.ExecContext(ctx, `INSERT INTO postbag_outbox (id, topic, type, "key", headers, payload) VALUES (?, ?, ?, ?, ?, ?)`,
				m.ID[:], m.Topic, m.Type, m.Key, string(headers), m.Payload)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Empty implements chaos.Damageable. It is the one way that there is.
func (f *sqlite) Empty(ctx context.Context, _ *rand.Rand) (ids []postbag.ID, err error) {
	err = f.inLog(ctx, func(ctx context.Context, conn *sql.Conn) error {
		if ids, err = idsOf(ctx, conn, "SELECT id FROM postbag_outbox"); err != nil {
			return err
		}
		for _, text := range []string{"DELETE FROM postbag_outbox", "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'postbag_outbox'"} {
			if _, err := conn.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
	return ids, err
}
