package memstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Retainer = (*Store)(nil)

// SetRetention implements store.Retainer.
func (s *Store) SetRetention(ctx context.Context, a store.Audit, name string, l store.Lifetimes) error {
	_, err := call(ctx, s, OpCommand, func() (store.BoxRetention, error) {
		return s.changeRetention(name, func(b *box, now int64) (storekit.RetentionChange, error) {
			return storekit.SetRetention(b.retention, b.name, now, a, l)
		})
	})
	return err
}

// DeployRetention implements store.Retainer.
func (s *Store) DeployRetention(ctx context.Context, d store.Deployment) (store.BoxRetention, error) {
	return call(ctx, s, OpDeploy, func() (store.BoxRetention, error) {
		return s.changeRetention(d.Box, func(b *box, now int64) (storekit.RetentionChange, error) {
			return storekit.DeployRetention(b.retention, now, &d)
		})
	})
}

// changeRetention changes what a box holds as fn says, and returns what it holds then.
func (s *Store) changeRetention(name string, fn func(*box, int64) (storekit.RetentionChange, error)) (store.BoxRetention, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.box(name)
	if err != nil {
		return store.BoxRetention{}, fmt.Errorf("memstore: retention of %q: %w", name, err)
	}
	now := s.now()
	c, err := fn(b, now.UnixMicro())
	if err != nil {
		return store.BoxRetention{}, fmt.Errorf("memstore: retention of %q: %w", name, err)
	}
	b.retention = c.Row
	if c.What != "" && !(c.Once && storekit.Told(s.notices(now)[name], c.What)) {
		s.note(c.Audit, c.What)
	}
	return c.Row.View(now.UnixMicro()), nil
}

// notices returns what people should know of the boxes.
func (s *Store) notices(now time.Time) map[string][]store.Notice {
	var latest []store.AuditEntry
	among := s.audit[max(len(s.audit)-storekit.NoticesAmong, 0):]
	for i := len(among) - 1; i >= 0 && len(latest) < storekit.NoticeEntries; i-- {
		if storekit.OfNotice(&among[i]) {
			latest = append(latest, among[i])
		}
	}
	return storekit.Notices(latest, now)
}

// Expired implements store.Retainer.
func (s *Store) Expired(ctx context.Context, name string, l store.Lifetimes) (int64, error) {
	return call(ctx, s, OpInspect, func() (int64, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		b, err := s.box(name)
		if err != nil {
			return 0, fmt.Errorf("memstore: count what would go of %q: %w", name, err)
		}
		return max(b.passedBy(s.now().Add(-max(l.Delivered, l.Discarded)))-b.log.base+1, 0), nil
	})
}

// expire queues a command for each message that has been dead for longer than dead: the
// owner of its shard discards it.
func (s *Store) expire(b *box, dead time.Duration, now time.Time, rep *store.Report) {
	if dead == store.Forever {
		return
	}
	for _, sub := range b.readers() {
		var over []*row
		room := storekit.ExpireWait - len(sub.commands)
		for _, seq := range slices.Sorted(maps.Keys(sub.lot.bySeq)) {
			p := sub.lot.bySeq[seq]
			if len(over) < min(storekit.ExpireMost, room) && p.park.State == store.ParkDead && len(sub.orders[seq]) == 0 && now.Sub(p.due) >= dead {
				over = append(over, p.row)
			}
		}
		for _, r := range over {
			s.lastCommand++
			sub.queue(&command{id: s.lastCommand, kind: store.Discard, row: r})
		}
		if len(over) > 0 {
			rep.Expired += int64(len(over))
			s.note(storekit.ExpireAudit(dead), fmt.Sprintf("discard %s %s", sub.ref, textList(over, (*row).named)))
		}
	}
}
