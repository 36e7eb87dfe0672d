package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/store/sqlkit"
)

// The table of a divided box has partitions by ranges of seq, its primary key. Which
// seqs an interval will have is not known before it is over, and to cut a partition
// that has rows copies them while nobody may write. So partitions are cut ahead,
// where there are no rows yet: beyond the one that is being written there is one for
// as many seqs as the last interval had, two much larger ones for producers that write
// faster than that, and one for the rest, which is never reached.
const (
	aheadParts   = 3
	aheadFactor  = 16
	leastPart    = 1000
	mostPart     = 1 << 40
	restPart     = "rest"
	fasterAtMost = 4 // by this a partition may be larger than what was measured
)

// copyMost is how many rows may be copied, which takes some milliseconds, to cut the
// last partition should it have been reached after all.
const copyMost = 5000

// partsMost keeps below what both servers can have, 8,192.
const partsMost = 4000

// partPause is how long a box's partitions are left alone after a change whose lock
// was not to be had: producers have waited behind it.
const partPause = time.Minute

// partWait is how long such a change waits for its lock.
const partWait = time.Second

// partition is a part of a box's table: the seqs from lo to hi.
type partition struct {
	name   string
	lo, hi int64
}

// division is how a box's table is divided, from the lowest part up.
type division struct {
	every time.Duration
	parts []partition
}

// partNotes are what a store remembers of the partitions of boxes. Times are in
// microseconds since 1970.
type partNotes struct {
	rest sqlkit.Marks // no change before this time
	wait sqlkit.Marks // by partition: no look for old tombstones before this time
	seen sqlkit.Marks // up to here there are no young ones
}

// firstPartitions is how the table of a new box is divided; "" for not at all.
func firstPartitions(every time.Duration) string {
	if every == 0 {
		return ""
	}
	return fmt.Sprintf("PARTITION BY RANGE (seq) (PARTITION p%d VALUES LESS THAN (%d), %s)", leastPart, leastPart+1, cuts(leastPart, leastPart))
}

// cuts divides what is above a seq, the first part having so many seqs.
func cuts(above, size int64) string {
	var parts []string
	for range aheadParts {
		above += size
		size *= aheadFactor
		parts = append(parts, fmt.Sprintf("PARTITION p%d VALUES LESS THAN (%d)", above, above+1))
	}
	return strings.Join(append(parts, "PARTITION "+restPart+" VALUES LESS THAN MAXVALUE"), ", ")
}

// redivide notes how long a partition of a box that is there is to be.
func (s *Store) redivide(ctx context.Context, box string) error {
	if s.opts.Partition == 0 {
		return nil
	}
	want := s.opts.Partition.Microseconds()
	var has int64
	found, err := s.row(ctx, sqlPartitionEvery, []any{box}, &has)
	if err != nil || !found || has == want {
		return translateError("look at the partitions of box "+box, err)
	}
	return s.write(ctx, "set the partitions of box "+box, func(t *transaction) error {
		_, err := t.Exec(sqlSetPartition, want, box)
		return err
	})
}

// undivided returns the boxes that are not divided although the option is set.
func (s *Store) undivided(ctx context.Context) (boxes []string, err error) {
	if s.opts.Partition == 0 {
		return nil, nil
	}
	err = s.query(ctx)(sqlUndivided, nil, func(rows *sql.Rows) error {
		var box string
		err := rows.Scan(&box)
		boxes = append(boxes, box)
		return err
	})
	return boxes, err
}

// divisionOf returns how a box is divided; no parts: not at all.
func (s *Store) divisionOf(ctx context.Context, box string) (division, error) {
	var every int64
	found, err := s.row(ctx, sqlPartitionEvery, []any{box}, &every)
	if err != nil || !found {
		return division{}, err
	}
	d := division{every: time.Duration(every) * time.Microsecond}
	err = s.query(ctx)(sqlPartitions, []any{"postbag_" + box}, func(rows *sql.Rows) error {
		p := partition{lo: 1, hi: math.MaxInt64}
		var end string
		if err := rows.Scan(&p.name, &end); err != nil {
			return err
		}
		if end != "MAXVALUE" {
			below, err := strconv.ParseInt(end, 10, 64)
			if err != nil {
				return fmt.Errorf("partition %s ends at %q; only ranges of seq are known here", p.name, end)
			}
			p.hi = below - 1
		}
		if n := len(d.parts); n > 0 {
			p.lo = d.parts[n-1].hi + 1
		}
		d.parts = append(d.parts, p)
		return nil
	})
	return d, err
}

// divide learns how the box is divided, and cuts new partitions ahead when the one
// that was cut for this interval has been reached.
func (m *maintenance) divide(ctx context.Context) (err error) {
	if m.division, err = m.s.divisionOf(ctx, m.Box); err != nil || len(m.parts) == 0 {
		return err
	}
	last, err := lastSeq(m.Query(ctx), m.Box)
	if err != nil {
		return err
	}
	n := len(m.parts)
	for n > 0 && m.parts[n-1].lo > last {
		n--
	}
	ahead := m.parts[n:] // nothing is written there
	switch {
	case len(ahead) > aheadParts:
		return nil
	case len(m.parts) > partsMost:
		m.Faultf("its table has %d partitions, and no more are made; resolve the parked messages that keep the old ones", len(m.parts))
		return nil
	case len(ahead) == 0:
		if ahead, err = m.reachedLastPartition(ctx); err != nil || ahead == nil {
			return err
		}
	}
	size, err := m.expected(ctx, last)
	if err != nil {
		return err
	}
	above := max(ahead[0].lo-1, last)
	if above > math.MaxInt64/2 {
		return nil
	}
	var names []string
	for _, p := range ahead {
		names = append(names, p.name)
	}
	text := fmt.Sprintf(sqlReorganize, tableOf(m.Box), strings.Join(names, ", "), cuts(above, size))
	done, err := m.alter("create", func() error { return m.s.cutParts(ctx, m.Box, text) })
	if err == nil && done {
		m.Report.Added++
		m.division, err = m.s.divisionOf(ctx, m.Box)
	}
	return err
}

// cutParts cuts new partitions. MariaDB gives the new ones the counter that the table had
// when the statement began to wait for its lock. An open transaction can write on into a
// partition that is cut meanwhile, and then producers get numbers that are taken. So the
// table is locked first.
func (s *Store) cutParts(ctx context.Context, box, text string) error {
	return s.alone(ctx, tableOf(box), func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, text+s.comment)
		return err
	})
}

// reachedLastPartition returns the last partition, which has been reached, if it may be cut: it
// has few rows.
func (m *maintenance) reachedLastPartition(ctx context.Context) ([]partition, error) {
	rest := m.parts[len(m.parts)-1:]
	var n, end, messages, at int64
	_, err := m.s.row(ctx, fmt.Sprintf(sqlCountPart, tableOf(m.Box)), []any{rest[0].lo - 1, rest[0].hi, copyMost + 1}, &n, &end, &messages, &at)
	if err != nil || n <= copyMost {
		return rest, err
	}
	if m.s.parts.rest.Of(m.Box) < time.Now().UnixMicro() {
		m.s.parts.rest.Set(m.Box, time.Now().Add(partPause).UnixMicro())
		m.Faultf("the last partition of its table has rows, and cutting it would block producers; its rows are deleted one by one. " +
			"Divide it with ALTER TABLE ... REORGANIZE PARTITION at a quiet hour")
	}
	return nil, nil
}

// expected returns how many seqs the next interval is expected to have, by what the
// last one had. Of a log that is younger than that it is not much more than there is.
func (m *maintenance) expected(ctx context.Context, last int64) (int64, error) {
	now, err := m.s.now(ctx)
	if err != nil {
		return 0, err
	}
	query := m.Query(ctx)
	begin, err := dialect.Before(query, m.Box, time.UnixMicro(now).Add(-m.every))
	if err != nil {
		return 0, err
	}
	var seq, at int64
	if found, err := sqlkit.Row(query, dialect.In(m.Box, sqlkit.SQLAtOrAfter), []any{begin + 1}, &seq, &at); err != nil || !found {
		return leastPart, err
	}
	took := max(time.Duration(now-at)*time.Microsecond, m.every/fasterAtMost)
	expected := float64(last-begin) * float64(m.every) / float64(took)
	return int64(min(max(expected, leastPart), mostPart)), nil
}

// alter changes the box's partitions, once; what it does names its points of failure.
// Where the lock was not to be had, or the right is missing, it says so and leaves
// them alone for a while.
func (m *maintenance) alter(what string, change func() error) (done bool, err error) {
	if time.Now().UnixMicro() < m.s.parts.rest.Of(m.Box) {
		return false, nil
	}
	if err := sqlkit.Hit("mysqlstore/partition/" + what + "/before"); err != nil {
		return false, err
	}
	if err = change(); err == nil {
		err = sqlkit.Hit("mysqlstore/partition/" + what + "/after")
	}
	if errors.Is(err, errAnotherEnd) {
		return false, nil
	}
	switch codeOf(err) {
	case codeLockWait:
		m.Faultf("a partition could not be made or dropped within %s, since a transaction that has touched the box is open; "+
			"it is tried again in %s", partWait, partPause)
	case codeDatabaseDenied, codeDenied, codeColumnDenied: // the right to lock is one of a database's, the others are a table's
		m.Faultf("its partitions cannot be made or dropped: grant CREATE, ALTER and DROP on the box's table, and LOCK TABLES on the database, to the relay's account")
	case codeNoPartition:
		return false, nil
	default:
		return err == nil, err
	}
	m.s.parts.rest.Set(m.Box, time.Now().Add(partPause).UnixMicro())
	return false, nil
}
