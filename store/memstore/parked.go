package memstore

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// The most that a parked row keeps.
const (
	maxHistory = 20
	maxReason  = 1024
)

// parked is a parked row.
type parked struct {
	row     *row // its bytes, which outlive the log's
	park    store.Park
	first   time.Time
	due     time.Time // for Waiting: when; for others: when it was parked
	history []store.Attempt
	copied  bool // the log has dropped its row

	counts  bool // see slotQueue
	entered uint64
}

// set replaces what p is by k, and adds to its history, unless k only postpones it.
func (p *parked) set(k store.Park, now time.Time) {
	k.Reason = cleanReason(k.Reason)
	k.Blocking = k.Blocking && k.Hash != 0
	k.Cause, k.DeadTo, k.DeadTopic = 0, "", ""
	if k.State != store.ParkHeld {
		k.Topic = ""
	}
	same := p.park.State == k.State && p.park.Attempts == k.Attempts && k.State != store.ParkDead
	p.park = k
	p.due = now
	if k.State == store.ParkRetrying {
		p.due = now.Add(k.Delay)
	}
	if same {
		return
	}
	p.history = append(p.history, store.Attempt{At: now, State: k.State, Reason: k.Reason})
	if n := len(p.history) - maxHistory; n > 0 {
		p.history = slices.Delete(p.history, 0, n)
	}
}

// cleanReason makes a text that any database takes.
func cleanReason(s string) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if len(s) > maxReason {
		s = s[:maxReason]
	}
	return strings.ToValidUTF8(s, "")
}

// triable says whether p can be tried once its time has come, if it is the first
// of its hash.
func (p *parked) triable() bool {
	return p.park.State == store.ParkRetrying || p.park.State == store.ParkBlocked
}

// shown returns the row as it is at now.
func (p *parked) shown(now time.Time) store.Park {
	k := p.park
	k.Delay = 0
	if k.State == store.ParkRetrying {
		k.Delay = p.due.Sub(now)
	}
	return k
}

// chain holds the blocking parked rows of one hash, in the order of seq.
type chain struct {
	hash uint64
	rows []*parked
	// mixed: the rows are of several slots, as under strict order of a shard.
	mixed bool
	head  *parked // the first, unless mixed
}

func (c *chain) find(seq int64) (int, bool) {
	return slices.BinarySearchFunc(c.rows, seq, func(p *parked, seq int64) int { return cmp.Compare(p.park.Seq, seq) })
}

func (c *chain) insert(p *parked) {
	i, found := c.find(p.park.Seq)
	if found {
		return
	}
	c.mixed = c.mixed || (len(c.rows) > 0 && c.rows[0].park.Slot != p.park.Slot)
	c.rows = slices.Insert(c.rows, i, p)
}

func (c *chain) remove(seq int64) {
	switch i, found := c.find(seq); {
	case !found:
	case i == 0: // the usual case, whatever the chain's length
		c.rows[0] = nil
		c.rows = c.rows[1:]
	default:
		c.rows = slices.Delete(c.rows, i, i+1)
	}
}

// in returns the first row that lies in r, and its place.
func (c *chain) in(r store.Slots) (int, *parked) {
	for i, p := range c.rows {
		if r.Contains(p.park.Slot) {
			return i, p
		}
	}
	return -1, nil
}

// behind returns up to most rows that may be tried right behind the first in r.
func (c *chain) behind(r store.Slots, most int) []*parked {
	var out []*parked
	i, _ := c.in(r)
	for _, p := range c.rows[i+1:] {
		if !r.Contains(p.park.Slot) {
			continue
		}
		if len(out) >= most || p.park.State != store.ParkBlocked {
			break
		}
		out = append(out, p)
	}
	return out
}
