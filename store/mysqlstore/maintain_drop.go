package mysqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/store/sqlkit"
)

// youngRows is how many rows one statement looks through for young tombstones.
const youngRows = 50_000

// retainParts lets the log of a divided box begin after each partition that everybody
// passed long enough ago, and drops it. to is what retention may remove.
//
// What hinders a drop is removed row by row: a partition with a parked message, and
// one that became much longer than it was meant to be, because fewer messages came.
func (m *maintenance) retainParts(ctx context.Context, swept, to, floor int64) error {
	for _, p := range m.parts {
		if p.hi > to || m.Late() {
			break
		}
		if p.hi <= swept {
			continue
		}
		next, err := m.passPart(ctx, swept, p)
		if err != nil {
			return err
		}
		if next <= swept {
			break
		}
		swept = next
	}
	now, err := m.s.now(ctx)
	if err != nil {
		return err
	}
	old, err := m.PassedBefore(ctx, floor, now-(m.Keep+2*m.every).Microseconds())
	if err != nil {
		return err
	}
	if swept, err = m.sweepTo(ctx, swept, min(old, to)); err != nil {
		return err
	}
	return m.dropPassed(ctx, swept)
}

// passPart lets the log begin after a partition, and returns where it begins then. A
// partition with young tombstones stays as it is, since they must.
func (m *maintenance) passPart(ctx context.Context, swept int64, p partition) (int64, error) {
	parked, err := m.parkedIn(m.Query(ctx), p)
	if err != nil {
		return swept, err
	}
	if parked {
		return m.sweepTo(ctx, swept, p.hi)
	}
	if found, err := m.young(ctx, p); err != nil || found != nothing {
		return swept, err
	}
	end := swept
	passed, err := m.pass(ctx, p.hi, func(t *sqlkit.Tx) (int64, error) {
		end = swept
		parked, err := m.parkedIn(t.Query, p)
		if err != nil || parked {
			return swept, err
		}
		end = p.hi
		return end, m.forgetFates(t, swept, p.hi)
	})
	if !passed {
		return swept, err
	}
	return end, err
}

// parkedIn says whether a message of a partition is parked.
func (m *maintenance) parkedIn(query sqlkit.Querier, p partition) (bool, error) {
	seqs, err := sqlkit.Numbers(query, sqlKeptRanges+" LIMIT 1", []any{m.Box, p.lo - 1, p.hi})
	return len(seqs) > 0, err
}

// stays says what is known of rows that must stay in a partition.
type stays int

const (
	unknown   stays = iota // there was no time to look through all of it, or something is sent late first
	something              // a parked message or a young tombstone
	nothing
)

// young says whether a partition has tombstones that must stay. A producer that should
// come now with a seq of the partition must find it taken: once the partition is gone, the
// row would be written where no reader comes any more.
func (m *maintenance) young(ctx context.Context, p partition) (stays, error) {
	now, err := m.s.now(ctx)
	if err != nil {
		return unknown, err
	}
	if now < m.s.parts.wait.Of(m.waitOf(p)) {
		return something, nil
	}
	at := m.s.parts.seen.Of(m.Box)
	if at < p.lo || at > p.hi {
		at = p.lo - 1
	}
	keep := m.s.tombstoneKeep.Microseconds()
	for rows := int64(youngRows); rows == youngRows; {
		var end, messages, youngest int64
		if m.Late() {
			return unknown, nil
		}
		if _, err := m.s.row(ctx, fmt.Sprintf(sqlCountPart, tableOf(m.Box)), []any{at, p.hi, youngRows}, &rows, &end, &messages, &youngest); err != nil {
			return unknown, err
		}
		if youngest > now-keep {
			m.s.parts.wait.Set(m.waitOf(p), youngest+keep)
			return something, nil
		}
		at = max(at, end)
		m.s.parts.seen.Set(m.Box, at)
	}
	m.s.parts.seen.Set(m.Box, p.hi)
	return nothing, nil
}

// waitOf is the name under which the store remembers how long a partition waits for its tombstones.
func (m *maintenance) waitOf(p partition) string { return m.Box + "/" + p.name }

// dropPassed drops the partitions below the beginning of the log in which nothing has
// to stay. None of them has the last row of the log, which is above that.
//
// A partition is held only if something in it is known to stay. The others wait for their drop.
func (m *maintenance) dropPassed(ctx context.Context, swept int64) error {
	m.held = nil
	if time.Now().UnixMicro() < m.s.parts.rest.Of(m.Box) {
		return nil
	}
	for _, p := range slices.Clone(m.parts) {
		if p.hi > swept || m.Late() {
			return nil
		}
		found, err := m.staysIn(ctx, p)
		if err != nil {
			return err
		}
		if found == something {
			m.held = append(m.held, p)
		}
		if found != nothing {
			continue
		}
		end, err := m.endOfThis(ctx)
		if err != nil {
			return err
		}
		began := time.Now()
		done, err := m.alter("drop", func() error { return m.s.dropPart(ctx, m.Box, p.name, end) })
		if err != nil || !done {
			return err
		}
		if err := m.Write(ctx, func(t *sqlkit.Tx) error { return m.forgetPart(t, p) }); err != nil {
			return err
		}
		m.s.parts.wait.Set(m.waitOf(p), 0)
		m.parts = slices.DeleteFunc(slices.Clone(m.parts), func(o partition) bool { return o.name == p.name })
		m.Report.Dropped++
		m.rest(ctx, time.Since(began))
	}
	return nil
}

// staysIn says whether a parked message or a tombstone must stay in a partition, or one that
// nobody has read.
func (m *maintenance) staysIn(ctx context.Context, p partition) (stays, error) {
	parked, err := m.parkedIn(m.Query(ctx), p)
	switch {
	case err != nil:
		return unknown, err
	case parked:
		return something, nil
	}
	found, err := m.young(ctx, p)
	if err != nil || found != nothing {
		return found, err
	}
	if strays, err := m.straysIn(m.Query(ctx), p); err != nil || strays {
		return unknown, err
	}
	return nothing, nil
}

// endOfLog is the last row of a log, by which the log is known: it stays for as long as
// the log is not emptied.
type endOfLog struct {
	seq int64
	id  []byte
}

// endOfThis returns the end of the log that the positions are of.
func (m *maintenance) endOfThis(ctx context.Context) (end endOfLog, err error) {
	query := m.Query(ctx)
	if end, err = endOf(query, m.Box); err != nil {
		return end, err
	}
	readers, err := dialect.Readers(query, m.Box) // later: an end of another log is not taken for that of this one
	if err == nil {
		err = m.passedThis(query, readers)
	}
	return end, err
}

func endOf(query sqlkit.Querier, box string) (end endOfLog, err error) {
	if end.seq, err = lastSeq(query, box); err != nil {
		return end, err
	}
	_, err = sqlkit.Row(query, fmt.Sprintf(sqlIDOf, tableOf(box)), []any{end.seq}, &end.id)
	return end, err
}

// errAnotherEnd says that a log does not have its end any more.
var errAnotherEnd = errors.New("mysqlstore: the log was emptied meanwhile; housekeeping looks at it again")

// lockedIdle is after how many seconds without a word the server ends a session that has
// a box's table for itself: producers wait for it.
const lockedIdle = 2

// dropPart drops a partition of the log that has this end. Somebody could empty the log
// between a look at it and the drop, and producers fill it again from the first seq on, in
// the same partition: so the table is locked for both.
func (s *Store) dropPart(ctx context.Context, box, name string, end endOfLog) error {
	table := tableOf(box)
	return s.alone(ctx, table, func(conn *sql.Conn) error {
		var id []byte
		err := conn.QueryRowContext(ctx, fmt.Sprintf(sqlIDOf, table)+s.comment, end.seq).Scan(&id)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if len(id) == 0 || !bytes.Equal(id, end.id) {
			return errAnotherEnd
		}
		_, err = conn.ExecContext(ctx, fmt.Sprintf(sqlDropPartition, table, name)+s.comment)
		return err
	})
}

// alone has fn work on a connection that has a table for itself.
func (s *Store) alone(ctx context.Context, table string, fn func(*sql.Conn) error) error {
	return s.session(ctx, partWait, func(conn *sql.Conn) (err error) {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION wait_timeout = %d", lockedIdle)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock(ctx, conn)) }()
		if _, err := conn.ExecContext(ctx, fmt.Sprintf(sqlLockTable, table)+s.comment); err != nil {
			return err
		}
		return fn(conn)
	})
}

// unlock frees the tables of a session. One that cannot is ended, which frees them too.
func unlock(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockedIdle*time.Second)
	defer cancel()
	for _, text := range []string{sqlUnlockTables, "SET SESSION wait_timeout = DEFAULT"} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
			return err
		}
	}
	return nil
}
