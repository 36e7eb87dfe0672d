package webhook

import (
	"context"
	"time"

	"github.com/postbag/postbag/source"
)

// epoch is that of all receipts: a source has one life.
const epoch = 1

// Ack implements source.Source. It has the requests answered with 204. Those that were
// answered meanwhile, or whose sender has hung up, count as lost: the sender tries again.
func (s *Source) Ack(ctx context.Context, receipts []source.Receipt) (lost int, err error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	return s.reply(receipts, answer{}), nil
}

// Release implements source.Source. It has the requests answered with 503, and after as
// Retry-After. Whether the sender heeds that is up to it.
func (s *Source) Release(ctx context.Context, receipts []source.Receipt, after time.Duration) error {
	done, err := s.life.Call(ctx)
	if err != nil {
		return err
	}
	defer done()
	a := s.busy(errReleased)
	a.retryAfter = max(after, 0)
	s.reply(receipts, a)
	return nil
}

// reply answers what is at work, and counts what was taken away before.
func (s *Source) reply(receipts []source.Receipt, a answer) (lost int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range receipts {
		r := s.atWork[one.Number]
		switch {
		case one.Epoch != epoch || one.Number == 0 || one.Number > s.number || s.lost.has(one.Number):
			lost++
		case r != nil:
			s.stalled = false
			delete(s.atWork, r.number)
			r.answer <- a
			if a.code != 0 {
				s.lost.add(r.number)
			}
		}
	}
	return lost
}

// lostNumbers remembers the last requests that were taken away while they were at work. The
// zero value remembers none.
type lostNumbers struct {
	most  int
	known map[uint64]struct{}
	order []uint64
}

func (l *lostNumbers) has(n uint64) bool {
	_, is := l.known[n]
	return is
}

func (l *lostNumbers) add(n uint64) {
	if l.known == nil {
		l.known = map[uint64]struct{}{}
	}
	l.known[n] = struct{}{}
	if l.order = append(l.order, n); len(l.order) > l.most {
		delete(l.known, l.order[0])
		l.order = l.order[1:]
	}
}
