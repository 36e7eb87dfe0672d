package pgstore

import (
	"context"
	"math"
	"time"
)

// promote moves scheduled messages that are due into the log.
func (m *maintenance) promote(ctx context.Context) error {
	for full := true; full && m.nextDue <= 0 && !m.late(); {
		var moved int64
		err := m.s.run(ctx, m.s.guard(m.v, "", nil), call{
			st:   m.s.statements.get("promote", m.Box),
			args: new(parameters).int4(m.box).int8(m.Token).int4(promoteLot),
			each: func(r row) error {
				c := columns{rest: r}
				moved = c.int8()
				return c.err
			},
		}, call{st: m.s.statements.get("next_scheduled", m.Box), each: func(r row) error {
			c := columns{rest: r}
			m.nextDue = c.int8()
			return c.err
		}})
		if err != nil {
			return err
		}
		m.report.Promoted += moved
		full = moved > 0
	}
	switch {
	case m.nextDue == math.MaxInt64:
		m.report.NextDue = -1
	case m.nextDue <= 0 && !m.report.More:
		m.report.NextDue = lockedWait
	default:
		m.report.NextDue = time.Duration(max(m.nextDue, 0)) * time.Microsecond
	}
	return nil
}
