package simulation

import (
	"slices"
	"time"

	"github.com/postbag/postbag/internal/engine"
)

// drawRate draws a rate, and how large its bursts may be.
func (w *world) drawRate(c *engine.Config) {
	if !w.plan.faults.has(Rates) {
		return
	}
	r := &c.Rate
	r.Shared = w.coin()
	of := w.below(3) // messages, bytes, or both
	if of != 1 {
		r.Messages, r.Burst = float64(w.of(50, 200, 20)), w.of(0, 1, 5, 20)
	}
	if of != 0 {
		r.Bytes, r.BurstBytes = float64(w.of(30_000, 200_000, 5_000)), w.of(0, 1, 2000)
	}
}

// meter sees whether in some time more was sent than a burst and the rate allow. It knows
// nothing of how the engine counts.
type meter struct {
	above float64 // of the rate, in the time for which this is most
	at    time.Duration
}

// add takes what was sent, and says how much is above the rate now: nothing if there is
// none.
func (m *meter) add(now time.Duration, n, rate float64) float64 {
	if rate > 0 {
		m.above = max(m.above-rate*(now-m.at).Seconds(), 0) + n
		m.at = now
	}
	return m.above
}

// sends are what a relay has sent, or all of them together.
type sends struct {
	messages, bytes meter
	share           float64
	rate            engine.Rate
	senders         []*relay // since nothing was above the rate
}

// rounding is what a clock in nanoseconds loses.
const rounding = 0.01

// checkRate sees whether a relay sends more than its rate, and all of them more than a rate
// that they share.
func (r *relay) checkRate(c *engine.Call) {
	w := r.w
	whole, rate := &w.plan.cfg.Rate, &r.tuned.Rate
	if rate.Messages <= 0 && rate.Bytes <= 0 {
		return
	}
	r.noteShare()
	share := r.sends.share
	late := 0 // calls that were counted, and waited for their rows
	if w.plan.cfg.CountFirst {
		late = w.plan.cfg.InFlight
	}
	r.sends.check(w, rate, r.now(), c, share, max(0, 1-float64(rate.Burst)*share)+float64(late), 1+float64(late))
	if !whole.Shared || w.unbound || w.plan.faults.has(unfair) {
		return
	}
	w.sends.sentBy(r)
	n := float64(len(w.sends.senders))
	w.sends.check(w, whole, w.now, c, 1, n+float64(late), n+float64(late))
}

// noteShare has the meters of a relay begin again if its share of the rate is another one: what was before is of
// that. It is also called where nothing is sent: a share that was larger for a moment has let more by.
func (r *relay) noteShare() {
	share, rate := 1.0, &r.tuned.Rate
	if rate.Shared {
		slots := 0
		for _, l := range r.flow.Leases() {
			slots += l.Hi - l.Lo
		}
		share = float64(slots) / 4096
	}
	if share != r.sends.share {
		r.sends = sends{share: share, rate: *rate}
	}
}

// otherShare has the meters of a relay begin again that took or lost shards, if it shares its rate: its share is
// another one, and perhaps the one before soon.
func (r *relay) otherShare() {
	if r.tuned.Rate.Shared {
		r.sends = sends{}
	}
}

// unfair are faults by which two relays may hold a shard for a moment.
const unfair = RelayClocks | StoreClock | FailOvers | Restores | Moves

// sentBy notes who has sent in the time that the meters look at.
func (s *sends) sentBy(r *relay) {
	w := r.w
	rate := &w.plan.cfg.Rate
	if s.messages.add(w.now, 0, rate.Messages) == 0 && s.bytes.add(w.now, 0, rate.Bytes) == 0 {
		s.senders = s.senders[:0]
	}
	if !slices.Contains(s.senders, r) {
		s.senders = append(s.senders, r)
	}
}

// check takes a call. A burst may be larger by so many messages, and by so many of the
// largest.
func (s *sends) check(w *world, rate *engine.Rate, now time.Duration, c *engine.Call, share, more, large float64) {
	bytes := 0
	for i := range c.Items {
		bytes += engine.Weigh(c.Items[i].Record)
	}
	messages := s.messages.add(now, float64(len(c.Items)), rate.Messages*share)
	if most := float64(rate.Burst)*share + more; messages > most+rounding {
		w.failf("rate", "%v messages above the rate were sent, a burst is %v", messages, most)
	}
	weight := s.bytes.add(now, float64(bytes), rate.Bytes*share)
	if most := float64(rate.BurstBytes)*share + large*float64(largest); weight > most+rounding {
		w.failf("rate", "%v bytes above the rate were sent, a burst is %v", weight, most)
	}
}
