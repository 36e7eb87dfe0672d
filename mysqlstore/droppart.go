package mysqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag/internal/sqlstore"
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
	if young, err := m.young(ctx, p); err != nil || young {
		return swept, err
	}
	end := swept
	passed, err := m.pass(ctx, p.hi, func(t *sqlstore.Tx) (int64, error) {
		end = swept
		parked, err := m.parkedIn(t.Query, p)
		if err != nil || parked {
			return swept, err
		}
		end = p.hi
		return end, m.forgetFates(t, p.lo-1, p.hi)
	})
	if !passed {
		return swept, err
	}
	return end, err
}

// parkedIn says whether a message of a partition is parked.
func (m *maintenance) parkedIn(query sqlstore.Querier, p partition) (bool, error) {
	stays, err := sqlstore.Numbers(query, sqlStays+" LIMIT 1", []any{m.Box, p.lo - 1, p.hi})
	return len(stays) > 0, err
}

// young says whether a partition has tombstones that must stay, as far as it could
// look. A producer that should come now with a seq of the partition must find it taken: once
// the partition is gone, the row would be written where no reader comes any more.
func (m *maintenance) young(ctx context.Context, p partition) (bool, error) {
	now, err := m.s.now(ctx)
	if err != nil || now < m.s.parts.wait.Of(m.Box) {
		return true, err
	}
	at := m.s.parts.seen.Of(m.Box)
	if at < p.lo || at > p.hi {
		at = p.lo - 1
	}
	keep := m.s.tombstoneKeep.Microseconds()
	for rows := int64(youngRows); rows == youngRows; {
		var end, messages, youngest int64
		if m.Late() {
			return true, nil
		}
		if _, err := m.s.row(ctx, fmt.Sprintf(sqlSurveyPart, tableOf(m.Box)), []any{at, p.hi, youngRows}, &rows, &end, &messages, &youngest); err != nil {
			return true, err
		}
		if youngest > now-keep {
			m.s.parts.wait.Set(m.Box, youngest+keep)
			return true, nil
		}
		at = max(at, end)
		m.s.parts.seen.Set(m.Box, at)
	}
	m.s.parts.seen.Set(m.Box, p.hi)
	return false, nil
}

// dropPassed drops the partitions below the beginning of the log in which nothing has
// to stay. None of them has the last row of the log, which is above that.
func (m *maintenance) dropPassed(ctx context.Context, swept int64) error {
	m.held = nil
	if time.Now().UnixMicro() < m.s.parts.rest.Of(m.Box) {
		return nil
	}
	for _, p := range slices.Clone(m.parts) {
		if p.hi > swept || m.Late() {
			return nil
		}
		parked, err := m.parkedIn(m.Query(ctx), p)
		if err != nil {
			return err
		}
		if !parked {
			if parked, err = m.young(ctx, p); err != nil {
				return err
			}
		}
		if parked {
			m.held = append(m.held, p)
			continue
		}
		readers, err := dialect.Readers(m.Query(ctx), m.Box)
		if err == nil {
			err = m.passedThis(m.Query(ctx), readers)
		}
		if err != nil {
			return err
		}
		began := time.Now()
		done, err := m.alter(ctx, "drop", fmt.Sprintf(sqlDropPartition, tableOf(m.Box), p.name))
		if err != nil || !done {
			return err
		}
		if err := m.Write(ctx, func(t *sqlstore.Tx) error { return m.forgetFates(t, p.lo-1, p.hi) }); err != nil {
			return err
		}
		m.parts = slices.DeleteFunc(slices.Clone(m.parts), func(o partition) bool { return o.name == p.name })
		m.Report.Dropped++
		m.rest(ctx, time.Since(began))
	}
	return nil
}
