package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/internal/failpoint"
)

// relayPoints are the named points of every relay, and Pointed those of a store.
var relayPoints = []string{
	"relay/fetch/before", "relay/fetch/after", "relay/publish/before", "relay/publish/after", "relay/acknowledge/before",
	"relay/acknowledge/after", "relay/settle/before", "relay/settle/after", "relay/renew/before", "relay/renew/after",
}

const (
	pointPrefix = "at "            // of the names of such faults
	pointPause  = 10 * time.Second // how long a relay stands still at one, which may be beyond the fault's end
	awaitedFor  = 10 * time.Second // how long it may take until a relay comes there
)

// Pointed is implemented by a Database whose store has named points of its own, of package failpoint.
type Pointed interface {
	// Points are their names, and provoke, if not nil, does what leads a relay there.
	Points() (names []string, provoke func(context.Context) error)
}

// pointFaults have a relay die, stand still or fail at a named point. They are there in a program with the tag postbag_failpoints.
func (r *run) pointFaults() (out []Fault) {
	if !failpoint.Enabled {
		return nil
	}
	for _, name := range relayPoints {
		out = append(out, r.pointFault(name, nil))
	}
	if p, ok := r.database.(Pointed); ok {
		names, provoke := p.Points()
		for _, name := range names {
			out = append(out, r.pointFault(name, provoke))
		}
	}
	return out
}

func (r *run) pointFault(point string, provoke func(context.Context) error) Fault {
	return Fault{
		Name: pointPrefix + point, Room: Processes, Repeats: EveryRelay, Least: 2 * time.Second, Most: 5 * time.Second,
		Begin: func(ctx context.Context, s *Strike) (func(context.Context) error, error) {
			action := []string{"kill", "kill", "kill", "pause", "error"}[s.Rand.IntN(5)]
			order := fmt.Sprintf("%s=%s@%d", point, action, 1+s.Rand.IntN(8))
			if provoke != nil || strings.HasPrefix(point, "relay/renew") {
				order = fmt.Sprintf("%s=%s", point, action) // it is passed seldom
			}
			s.Note(strings.TrimPrefix(order, point+"="))
			// The process that comes there first is hit; where that is one of several, the others may be too.
			for _, m := range r.crew.members {
				if err := r.crew.arm(m, order); err != nil {
					return nil, err
				}
			}
			end := func(context.Context) (err error) {
				var came []string
				for _, m := range r.crew.members {
					what, one := r.crew.disarm(m, point)
					if err = errors.Join(err, one); what != "" {
						came = append(came, fmt.Sprintf("relay %d %s", m.number, what))
					}
				}
				if len(came) == 0 {
					s.Idle("no relay came there")
				}
				s.notes = append(s.notes, came...)
				return err
			}
			var err error
			if provoke != nil {
				err = provoke(ctx)
			}
			soon, cancel := context.WithTimeout(ctx, awaitedFor) // where store or destination is away, relays come nowhere
			defer cancel()
			_ = Until(soon, func() bool {
				return slices.ContainsFunc(r.crew.members, func(m *member) bool { return r.crew.passed(m, point) })
			})
			return end, err
		},
	}
}

// arm has a relay do something at a point; a process that follows it knows nothing of that.
func (c *crew) arm(m *member, order string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.armed, m.falls, m.logged = true, 0, 0
	if log, err := os.Stat(c.log(m)); err == nil {
		m.logged = log.Size()
	}
	return os.WriteFile(c.failpoints(m), []byte(order), 0o600)
}

// disarm ends that and says what came of it; nothing if the relay did not come there.
func (c *crew) disarm(m *member, point string) (string, error) {
	err := os.WriteFile(c.failpoints(m), []byte("none"), 0o600)
	came := c.passed(m, point)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.armed = false
	switch {
	case m.falls > 0:
		return "died", err
	case came:
		return "came there and lives", err
	default:
		return "", err
	}
}

// passed says whether the point has done something in a relay since it was armed, as its log says.
func (c *crew) passed(m *member, point string) bool {
	f, err := os.Open(c.log(m))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	m.mu.Lock()
	from := m.logged
	m.mu.Unlock()
	text, err := io.ReadAll(io.NewSectionReader(f, from, math.MaxInt64-from))
	return err == nil && bytes.Contains(text, []byte(failpoint.Said(point, "")))
}
