package adapters

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math/rand/v2"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/chaos"
)

// inLog does something to the log as its owner, in a session of its own that does not wait long for others.
func (s *mysqlServer) inLog(ctx context.Context, do func(context.Context, *sql.Conn) error) error {
	conn, err := s.session(ctx)
	if err != nil {
		return err
	}
	if _, err = conn.ExecContext(ctx, "SET SESSION innodb_lock_wait_timeout = 8"); err == nil {
		err = do(ctx, conn)
	}
	gone := dropped(conn) // with whatever it holds
	if refusedWith(err, lockWaitTimeout) || refusedWith(err, deadlock) {
		return chaos.ErrGivenUp
	}
	return errors.Join(err, gone)
}

// rebuild runs a statement that rebuilds the log. When MariaDB rebuilds a divided table in place, it loses the rows of a prepared
// transaction whose session is gone, and which commits while the statement waits for it. So they are waited for first.
func (s *mysqlServer) rebuild(ctx context.Context, text string) error {
	if !s.kind.MariaDB {
		return s.exec(ctx, text)
	}
	return s.inLog(ctx, func(ctx context.Context, conn *sql.Conn) error {
		_, err := lockedLog(ctx, conn)
		if err == nil {
			_, err = conn.ExecContext(ctx, text)
		}
		return err
	})
}

// lockedLog locks the log for a session, and returns the ids of its messages. MariaDB lets the log be locked under a transaction that is
// prepared and whose session is gone: the ids are read so that its rows are waited for.
func lockedLog(ctx context.Context, conn *sql.Conn) ([]postbag.ID, error) {
	if _, err := conn.ExecContext(ctx, "LOCK TABLES postbag_outbox WRITE"); err != nil {
		return nil, err
	}
	return idsOf(ctx, conn, "SELECT id FROM postbag_outbox WHERE topic <> '' FOR UPDATE")
}

// Plant implements chaos.Damageable: headers that MariaDB takes for JSON once its checks are off, and a topic that is no UTF-8, which both take.
func (s *mysqlServer) Plant(ctx context.Context, msgs []postbag.Message, bad int) error {
	return s.inLog(ctx, func(ctx context.Context, conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
			return err
		}
		for i := range msgs {
			m := &msgs[i]
			headers, err := json.Marshal(m.Headers)
			if err != nil {
				return err
			}
			topic, insert := []byte(m.Topic), "INSERT INTO postbag_outbox (id, topic, type, `key`, headers, payload) VALUES (?, ?, ?, ?, ?, ?)"
			switch {
			case i == bad && s.kind.MariaDB:
				headers, insert = []byte(`{"path":"C:\queue"}`), "SET STATEMENT check_constraint_checks = 0 FOR "+insert
			case i == bad:
				topic = append([]byte{0xff}, topic...)
			}
			if _, err = conn.ExecContext(ctx, insert, m.ID[:], topic, m.Type, m.Key, string(headers), m.Payload); err != nil {
				return err
			}
		}
		_, err := conn.ExecContext(ctx, "COMMIT")
		return err
	})
}

// Empty implements chaos.Damageable.
func (s *mysqlServer) Empty(ctx context.Context, r *rand.Rand) (ids []postbag.ID, err error) {
	texts := []string{"TRUNCATE TABLE postbag_outbox"}
	if r.IntN(2) == 0 {
		texts = []string{"DELETE FROM postbag_outbox", "ALTER TABLE postbag_outbox AUTO_INCREMENT = 1"}
	}
	err = s.inLog(ctx, func(ctx context.Context, conn *sql.Conn) (err error) {
		if ids, err = lockedLog(ctx, conn); err != nil {
			return err
		}
		for _, text := range texts {
			if _, err := conn.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
	return ids, err
}

// idsOf are the ids that a statement returns, as bytes.
func idsOf(ctx context.Context, conn *sql.Conn, text string) (ids []postbag.ID, err error) {
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return nil, err
		}
		var id postbag.ID
		if len(raw) != len(id) {
			return nil, errors.New("adapters: an id in the log has another length")
		}
		copy(id[:], raw)
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
