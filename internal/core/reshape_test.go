package core

import (
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

// sees is a view in which the relay has the one shard there is, and two are wanted.
func (c *Core) sees() *store.View {
	sh := store.Shard{Ref: ref, Slots: store.AllSlots}
	return &store.View{
		Alive: true, Epoch: 1, Relays: []store.RelayState{{ID: c.id, Expires: time.Hour, Works: []store.Ref{ref}}},
		Subscriptions: []store.SubscriptionState{{
			Ref: ref, Wanted: 2, Shards: []store.ShardState{{Lease: store.Lease{Shard: sh, Token: 7, Version: 1}, Owner: c.id}},
		}},
	}
}

// nextHeartbeat makes steps until there is a heartbeat.
func (c *Core) nextHeartbeat(t *testing.T, now *time.Duration) *Heartbeat {
	t.Helper()
	for range 10_000 {
		all := c.step(*now)
		for i := range all {
			switch o := all[i]; o.Kind {
			case Beat:
				return o.Beat
			case Turn:
				c.Landed(*now, o.Round, Fine, c.nothing(o.Round))
			case Check:
				c.Checked(*now, Fine)
			default:
			}
		}
		*now += 10 * time.Millisecond
	}
	t.Fatal("there is no heartbeat")
	return nil
}

// reshapes makes heartbeats until one asks for a change of shards.
func (c *Core) reshapes(t *testing.T, now *time.Duration) *Heartbeat {
	t.Helper()
	for range 100 {
		b := c.nextHeartbeat(t, now)
		if len(b.Reshape) > 0 {
			return b
		}
		c.Beaten(*now, b, Fine, c.sees())
	}
	t.Fatal("no heartbeat asks for a change of shards")
	return nil
}

// The pause behind a change of shards that no store answers grows, and none is asked for
// again by the heartbeat behind it.
func TestAnUnansweredChangeOfShardsIsRetriedWithBackoff(t *testing.T) {
	t.Parallel()
	c := newCore(func(o *Options) { o.Upkeep = false })
	f := c.Flows[0]
	f.Owner.Claim(0)
	now := time.Duration(0)
	c.Beaten(now, c.nextHeartbeat(t, &now), Fine, c.sees())
	load := c.loads(t)
	c.LoadEnded(now, load, make([]store.Blocks, 1), make([]error, 1))
	last, pause := time.Duration(0), time.Duration(0)
	for range 3 {
		b := c.reshapes(t, &now)
		if last > 0 && now-last < 2*pause {
			t.Fatalf("it is asked for again after %v, the pause before was %v", now-last, pause)
		}
		if last > 0 {
			pause = now - last
		}
		last = now
		c.Beaten(now, b, TimedOut, nil)
		next := c.nextHeartbeat(t, &now)
		if len(next.Reshape) > 0 {
			t.Fatal("the next heartbeat asks for it, too")
		}
		c.Beaten(now, next, Fine, c.sees())
	}
	if pause < 4*c.options.TTL {
		t.Errorf("the last pause was %v", pause)
	}
}
