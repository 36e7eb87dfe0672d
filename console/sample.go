package console

import (
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

const (
	// DefaultSample is how long lies between two samples: 720 of them are an hour.
	DefaultSample = 5 * time.Second
	// samplesFor is how long samples stay.
	samplesFor = time.Hour
)

// sample is a box at one moment, in 32 bytes. Replays are left out: they send old messages.
type sample struct {
	waiting int64 // below zero: the box was not there
	// NaN: not known.
	published, delivered float32
	oldest               float32
	dead, parked         int32
}

// boxHistory is the last hour of a box. Its last sample is of the last moment of its database.
type boxHistory struct {
	samples []sample
	// bad is since when it needs a look; zero: it does not. Longer: it needed one at the first sample already.
	bad    time.Time
	longer bool
}

// history is the last hour of a database. It may be used concurrently.
type history struct {
	mu      sync.Mutex
	moments []time.Time
	boxes   map[string]*boxHistory
	last    *store.Overview // of the last sample
}

// take keeps a sample of an overview.
func (h *history) take(o *store.Overview, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if o == h.last {
		return
	}
	s := operations.StatusOf(o, rated(h.last, o))
	h.last = o
	h.drop(at.Add(-samplesFor))
	h.moments = append(h.moments, at)
	for _, b := range h.boxes {
		b.samples = append(b.samples, sample{waiting: -1})
	}
	for i := range s.Boxes {
		b := h.box(s.Boxes[i].Name)
		b.samples[len(b.samples)-1] = sampleOf(&s.Boxes[i])
		b.judge(boxState(&s.Boxes[i]).Good, at)
	}
}

// box returns the history of a box, whose last sample is the one being taken.
func (h *history) box(name string) *boxHistory {
	b := h.boxes[name]
	if b == nil {
		if h.boxes == nil {
			h.boxes = make(map[string]*boxHistory)
		}
		b = &boxHistory{samples: make([]sample, 1)}
		h.boxes[name] = b
	}
	return b
}

// judge notes since when a box needs a look.
func (b *boxHistory) judge(good bool, at time.Time) {
	switch {
	case good:
		b.bad, b.longer = time.Time{}, false
	case b.bad.IsZero():
		b.bad, b.longer = at, len(b.samples) == 1
	}
}

// drop forgets samples from before a time, and boxes that have no others.
func (h *history) drop(before time.Time) {
	old := slices.IndexFunc(h.moments, func(at time.Time) bool { return !at.Before(before) })
	if old < 0 {
		old = len(h.moments)
	}
	h.moments = slices.Delete(h.moments, 0, old)
	for name, b := range h.boxes {
		b.samples = slices.Delete(b.samples, 0, max(0, len(b.samples)-len(h.moments)))
		if !slices.ContainsFunc(b.samples, func(s sample) bool { return s.waiting >= 0 }) {
			delete(h.boxes, name)
		}
	}
}

func sampleOf(b *operations.Box) sample {
	v := sample{published: rateSample(b.Rate), delivered: float32(math.NaN())}
	if len(b.Subscriptions) == 0 {
		v.delivered = 0
	}
	for i := range b.Subscriptions {
		s := &b.Subscriptions[i]
		if s.ReplayOf != "" {
			continue
		}
		v.waiting += s.Backlog
		v.oldest = max(v.oldest, float32(s.Oldest))
		v.delivered = plus(v.delivered, rateSample(s.Rate))
		for state, n := range s.Parked {
			if state == store.ParkDead.String() {
				v.dead = more(v.dead, n)
			} else {
				v.parked = more(v.parked, n)
			}
		}
	}
	return v
}

func rateSample(perSecond *float64) float32 {
	if perSecond == nil {
		return float32(math.NaN())
	}
	return float32(*perSecond)
}

// plus adds rates. One that is not known adds nothing.
func plus(a, b float32) float32 {
	switch {
	case math.IsNaN(float64(a)):
		return b
	case math.IsNaN(float64(b)):
		return a
	}
	return a + b
}

// more adds counts, up to the most that fits.
func more(a int32, n int64) int32 { return int32(min(int64(a)+n, math.MaxInt32)) }

// Samples are what a box was like over a time, or all boxes of a database together, in JSON. Replays are left out.
type Samples struct {
	// The samples, the oldest first. While the database could not be read there are none.
	Samples []Sample `json:"samples"`
}

// Sample is what a box was like at one moment, in JSON. What is not known is left out.
type Sample struct {
	// When it was, by the console's clock.
	At time.Time `json:"at"`
	// About how many messages a second were published since the sample before.
	Published *float64 `json:"published_per_second,omitempty"`
	// How many a second were delivered since then, by all subscriptions.
	Delivered *float64 `json:"delivered_per_second,omitempty"`
	// About how many messages waited to be read or settled.
	Waiting *float64 `json:"waiting,omitempty"`
	// The age of the oldest message that waited or was parked.
	Oldest *float64 `json:"oldest_seconds,omitempty"`
	// How many messages were dead.
	Dead *float64 `json:"dead,omitempty"`
	// How many were parked and not dead.
	Parked *float64 `json:"parked,omitempty"`
	// From Prometheus alone: in which time half of the messages were delivered.
	Half *float64 `json:"latency_p50_seconds,omitempty"`
	// From Prometheus alone: in which time 99 of 100 were delivered.
	Most *float64 `json:"latency_p99_seconds,omitempty"`
}

// of returns the samples of all boxes that count together.
func (h *history) of(counts func(box string) bool) Samples {
	h.mu.Lock()
	defer h.mu.Unlock()
	sums := make([]sample, len(h.moments))
	for i := range sums {
		sums[i].published, sums[i].delivered = float32(math.NaN()), float32(math.NaN())
	}
	for name, b := range h.boxes {
		if counts(name) {
			b.addTo(sums[len(sums)-len(b.samples):])
		}
	}
	v := Samples{Samples: make([]Sample, len(sums))}
	for i, s := range sums {
		v.Samples[i] = Sample{
			At: h.moments[i].UTC(), Published: known(s.published), Delivered: known(s.delivered),
			Waiting: counted(s.waiting), Oldest: known(s.oldest), Dead: counted(int64(s.dead)), Parked: counted(int64(s.parked)),
		}
	}
	return v
}

// addTo adds the samples of a box to those of others.
func (b *boxHistory) addTo(sums []sample) {
	for i, s := range b.samples {
		if s.waiting < 0 {
			continue
		}
		sum := &sums[i]
		sum.published, sum.delivered = plus(sum.published, s.published), plus(sum.delivered, s.delivered)
		sum.waiting += s.waiting
		sum.oldest = max(sum.oldest, s.oldest)
		sum.dead, sum.parked = more(sum.dead, int64(s.dead)), more(sum.parked, int64(s.parked))
	}
}

// known is a rate with what a float32 knows of it; nil: it is not known.
func known(rate float32) *float64 {
	v := math.Round(float64(rate)*1000) / 1000
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

func counted(n int64) *float64 {
	v := float64(n)
	return &v
}

// since says since when a box needs a look, as far as the samples know; zero: it does not. Longer: it may be longer.
func (h *history) since(box string) (at time.Time, longer bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.boxes[box]; b != nil {
		return b.bad, b.longer
	}
	return time.Time{}, false
}

// samples answers with the last hour of a box, or of all boxes of a database.
func (c *console) samples(r *http.Request) (Samples, error) {
	d, err := c.database(r)
	if err != nil {
		return Samples{}, err
	}
	var boxes []string // nil: all
	over := r.URL.Query().Get("range")
	if box := r.PathValue("box"); box != "" {
		s, err := d.status(r.Context())
		if err != nil {
			return Samples{}, err
		}
		if _, err := boxOf(s, box); err != nil {
			return Samples{}, err
		}
		boxes = []string{box}
	}
	if over == "" {
		return d.history.of(func(name string) bool { return boxes == nil || slices.Contains(boxes, name) }), nil
	}
	all, err := c.days.samples(r.Context(), d.name, boxes, over)
	return Samples{all}, err
}
