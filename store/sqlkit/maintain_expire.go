package sqlkit

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// Expire queues a command for each message that has been dead for longer than the box
// keeps it: the owner of its shard discards it. It looks through some of the dead each
// time; seen remembers where.
func (m *Maintenance) Expire(ctx context.Context, seen *Marks) error {
	if m.dead == store.Forever || m.Late() {
		return nil
	}
	now, err := m.base.hooks.Now(ctx)
	if err != nil {
		return err
	}
	subs := map[int64]string{}
	err = m.Query(ctx)(sqlFollowing, []any{m.Box}, func(rows *sql.Rows) error {
		var id int64
		var name string
		err := rows.Scan(&id, &name)
		subs[id] = name
		return err
	})
	for id, name := range subs {
		if err != nil {
			return err
		}
		err = m.expire(ctx, store.Ref{Box: m.Box, Subscription: name}, id, now-m.dead.Microseconds(), seen)
	}
	return err
}

// expire does that for one subscription. A message counts as dead since its row was
// written last.
func (m *Maintenance) expire(ctx context.Context, r store.Ref, id, before int64, seen *Marks) error {
	var over []int64
	looked, last := 0, int64(0)
	err := m.Query(ctx)(m.base.dialect.Dead, []any{id, seen.Of(r.String()), storekit.ExpireLook}, func(rows *sql.Rows) error {
		var since int64
		if err := rows.Scan(&last, &since); err != nil {
			return err
		}
		looked++
		if since <= before {
			over = append(over, last)
		}
		if len(over) == storekit.ExpireMost {
			return ErrEnough
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(over) > 0 {
		if err := m.discardDead(ctx, r, id, before, over); err != nil {
			return err
		}
	}
	if looked < storekit.ExpireLook && len(over) < storekit.ExpireMost {
		last = 0 // once more from the beginning
	}
	seen.Set(r.String(), last)
	return nil
}

// discardDead queues the commands. No operator can queue one meanwhile: a message that
// somebody has retried is left alone.
func (m *Maintenance) discardDead(ctx context.Context, r store.Ref, id, before int64, over []int64) error {
	var queued []int64
	err := m.base.hooks.Change(ctx, "discard dead messages of "+r.String(), func(t *Tx) error {
		queued = nil
		if held, err := t.Row(SQLHolds+t.Lock, m.lease(), new(int)); err != nil || !held {
			return err
		}
		var waiting int
		if _, err := t.Row(sqlCountCommands, []any{id, storekit.ExpireWait}, &waiting); err != nil || waiting >= storekit.ExpireWait {
			return err
		}
		for _, seq := range over {
			n, err := t.Exec(SQLExpire, int(store.Discard), id, seq, int(store.ParkDead), before)
			if err != nil {
				return err
			}
			if n > 0 {
				queued = append(queued, seq)
			}
		}
		if len(queued) == 0 {
			return nil
		}
		names, err := t.names(r.Box, queued)
		if err != nil {
			return err
		}
		return t.audit(storekit.ExpireAudit(m.dead), fmt.Sprintf("discard %s %s", r, names))
	})
	if err == nil && len(queued) > 0 {
		m.Report.Expired += int64(len(queued))
		m.base.hooks.Wake(r.Box)
	}
	return err
}
