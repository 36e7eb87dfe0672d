package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/store"
)

// When a relay dies, or stands still beyond its lease, others must take its shards and deliver from them. Who owns what, and how
// often each shard was settled, is sampled all the while from what the store shows to everybody. The samples around a death say
// which shards it had, when each had another owner, and when that one had settled something of it.

const (
	sampleEvery = 250 * time.Millisecond
	// sampleFresh is how old the last sample before a death may be.
	sampleFresh = time.Second
	// takeover is within what the shards of a dead relay are delivered from again: TTL + 5 s are promised, and a busy machine is
	// given more.
	takeover = ttl + 5*time.Second + 20*time.Second
)

// death is that of a relay's process, or the beginning of a time in which it stands still.
type death struct {
	relay string
	at    time.Time
}

// ownership is who owned what at a time.
type ownership struct {
	at     time.Time
	shards map[store.Slots]holding
}

// holding is a shard.
type holding struct {
	owner   string // the relay's name; empty: nobody's
	token   int64  // new at each change of hands
	version int64  // grows at each settlement
}

// overseer samples who owns what.
type overseer struct {
	*operator

	cancel  context.CancelFunc
	ended   sync.WaitGroup
	samples []ownership
}

func startOverseer(ctx context.Context, r *run) (*overseer, error) {
	events, err := newEvents(filepath.Join(r.dir, "overseer.events"), r.origin)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	o := &overseer{operator: &operator{run: r, events: events}, cancel: cancel}
	o.ended.Go(func() {
		for wait := sampleEvery; Pause(ctx, wait) == nil; {
			asked := time.Now()
			o.sample(ctx)
			wait = max(sampleEvery, 3*time.Since(asked)) // a store that is slow to say it is not asked all the time
		}
	})
	return o, nil
}

// sample looks once, if the store answers.
func (o *overseer) sample(ctx context.Context) {
	_ = o.do(ctx, func(ctx context.Context, s orders) error {
		v, err := s.Overview(ctx)
		if err == nil {
			o.samples = append(o.samples, owned(&v, time.Now()))
		}
		return err
	})
}

// owned is who owns what by an overview.
func owned(v *store.Overview, at time.Time) ownership {
	names := map[string]string{}
	for _, r := range v.Relays {
		names[r.ID] = r.Name
	}
	out := ownership{at: at, shards: map[store.Slots]holding{}}
	for _, b := range v.Boxes {
		for i := range b.Subscriptions {
			if b.Subscriptions[i].Ref != ref {
				continue
			}
			for _, s := range b.Subscriptions[i].Shards {
				out.shards[s.Slots] = holding{owner: names[s.Owner], token: s.Token, version: s.Version}
			}
		}
	}
	return out
}

// stop ends the sampling and records how long each takeover took, of those that came while there was load. It may be called twice.
func (o *overseer) stop(deaths []death, happened []Happening, loadEnded time.Time) error {
	o.cancel()
	o.ended.Wait()
	o.samples = slices.DeleteFunc(o.samples, func(s ownership) bool { return s.at.After(loadEnded) })
	for _, d := range deaths {
		if g, ok := takeoverOf(d, o.samples, deaths, happened); ok {
			o.events.Wait(history.Gap{Kind: history.Takeover, Of: g.of, Begin: o.events.clock.At(g.from), End: o.events.clock.At(g.to)})
		}
	}
	o.samples = nil
	return o.operator.stop()
}

// gap is how long a takeover took.
type gap struct {
	of       string
	from, to time.Time
}

// takeoverOf finds out how long the takeover of a relay's shards took. It cannot say so if the store was not asked shortly before, if
// the relay owned nothing, or if the run ended first. Where it took longer than it may, the time until what was broken meanwhile
// works again is not counted.
func takeoverOf(d death, samples []ownership, deaths []death, happened []Happening) (g gap, ok bool) {
	next, _ := slices.BinarySearchFunc(samples, d.at, func(s ownership, at time.Time) int { return s.at.Compare(at) })
	if next == 0 || d.at.Sub(samples[next-1].at) > sampleFresh {
		return g, false
	}
	g = gap{from: d.at, to: d.at}
	var had int
	for slots, h := range samples[next-1].shards {
		if h.owner != d.relay {
			continue
		}
		had++
		to, over := deliveredAgain(slots, h.token, samples[next:])
		if !over && to.Sub(d.at) <= takeover {
			return g, false // it was not given the time
		}
		if to.After(g.to) {
			g.to = to
		}
	}
	if g.of = fmt.Sprintf("%s, which had %d shards", d.relay, had); g.to.Sub(g.from) > takeover {
		g = g.calmed(disturbances(d, deaths, happened))
	}
	return g, had > 0
}

// deliveredAgain is when a shard was settled under another token than the one that its owner died with, or was no more. over is false
// if neither was seen by the last sample.
func deliveredAgain(slots store.Slots, token int64, samples []ownership) (at time.Time, over bool) {
	var before holding
	for _, s := range samples {
		now, there := s.shards[slots]
		at = s.at
		if !there || now.token != token && now.token == before.token && now.version > before.version {
			return at, true
		}
		before = now
	}
	return at, false
}

// disturbances are the times in which something other than a relay's death hindered its takeover.
func disturbances(d death, deaths []death, happened []Happening) (all [][2]time.Time) {
	for _, h := range happened {
		switch {
		case h.Throughout, h.Room == Processes && !h.From.After(d.at): // the latter is the one that it died of
		case strings.HasPrefix(h.Fault, pointPrefix):
			all = append(all, [2]time.Time{h.From, h.To.Add(pointPause)})
		default:
			all = append(all, [2]time.Time{h.From, h.To})
		}
	}
	for _, other := range deaths {
		if other.at.After(d.at) {
			all = append(all, [2]time.Time{other.at, other.at})
		}
	}
	return all
}

// calmed is the gap without the time until what disturbed it was over.
func (g gap) calmed(disturbances [][2]time.Time) gap {
	for _, one := range disturbances {
		if one[0].Before(g.to) && one[1].After(g.from) {
			g.from = one[1]
		}
	}
	if g.from.After(g.to) {
		g.from = g.to
	}
	return g
}
