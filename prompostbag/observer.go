package prompostbag

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// Observer measures what no counter of a relay tells: how long messages, calls, settlements
// housekeeping and handlers took, and what publishers of this program wrote. It is a
// prometheus.Collector. Give its Hooks to relays, Publisher the options of publishers, and
// [Handler] to consumers.
// It is safe for concurrent use. Make it with NewObserver.
//
// Histograms are classic and native. Prometheus reads native ones if it is told to, and they
// then have a resolution of ten percent.
type Observer struct {
	all    []prometheus.Collector
	latest *prometheus.GaugeVec

	ages, calls, settled, upkeep, handlers *prometheus.HistogramVec

	pages, pageFaults, deleted, dropped, promoted, faults, created *prometheus.CounterVec

	mu     sync.Mutex
	series map[store.Ref]*series
	boxes  map[string]bool // whose series are there
}

var _ prometheus.Collector = (*Observer)(nil)

// series are those of one subscription, so that an event looks up none.
type series struct {
	first, later, calls, settled prometheus.Observer
	pages, faults                prometheus.Counter
	latest                       prometheus.Gauge
	highest                      int64 // that latest shows
}

// classic are the classic buckets, in seconds: from a local broker to an outage of an hour.
var classic = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600}

// NewObserver returns an observer. It takes no options, and cannot fail. Several of one
// registry need labels that tell them apart, as collectors do.
func NewObserver() *Observer {
	o := &Observer{series: make(map[store.Ref]*series), boxes: make(map[string]bool)}
	table := make(map[string]Metric)
	for _, m := range observed() {
		table[m.Name] = m
	}
	histogram := func(name string) *prometheus.HistogramVec {
		m := table[name]
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: m.Name, Help: m.Help, Buckets: classic,
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
		}, m.Labels)
		o.all = append(o.all, v)
		return v
	}
	counter := func(name string) *prometheus.CounterVec {
		m := table[name]
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.Labels)
		o.all = append(o.all, v)
		return v
	}
	o.ages, o.calls, o.settled, o.upkeep = histogram(messageAge), histogram(callTime), histogram(settlementTime), histogram(upkeepTime)
	o.handlers = histogram(handlerTime)
	o.pages, o.pageFaults = counter(pages), counter(pageFaults)
	o.deleted, o.dropped, o.promoted, o.faults = counter(rowsDeleted), counter(partsDropped), counter(promoted), counter(upkeepFaults)
	o.created = counter(created)
	latest := table[lastSent]
	o.latest = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: latest.Name, Help: latest.Help}, latest.Labels)
	o.all = append(o.all, o.latest)
	return o
}

// Describe implements prometheus.Collector.
func (o *Observer) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range o.all {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (o *Observer) Collect(ch chan<- prometheus.Metric) {
	for _, c := range o.all {
		c.Collect(ch)
	}
}

// Hooks are for relay.Options.Hooks. A relay that has them makes an event of each call, page
// and settlement.
func (o *Observer) Hooks() relay.Hooks {
	return relay.Hooks{PageRead: o.page, Call: o.call, Settled: o.progress, Maintained: o.maintained}
}

// Publisher returns options whose publisher counts the messages that it wrote. A Wrap that is
// there comes first.
func (o *Observer) Publisher(p postbag.PublisherOptions) postbag.PublisherOptions {
	box := p.Box
	if box == "" {
		box = "outbox"
	}
	written := o.created.WithLabelValues(box)
	p.Wrap = postbag.JoinWraps(p.Wrap, func(next postbag.PublishFunc) postbag.PublishFunc {
		return func(ctx context.Context, msgs []postbag.Message) error {
			err := next(ctx, msgs)
			if err == nil {
				written.Add(float64(len(msgs)))
			}
			return err
		}
	})
	return p
}

// of returns the series of a subscription. They are there from its first event on.
func (o *Observer) of(ref store.Ref) *series {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.series[ref]
	if s == nil {
		b, n := ref.Box, ref.Subscription
		s = &series{
			first: o.ages.WithLabelValues(b, n, "first"), later: o.ages.WithLabelValues(b, n, "later"),
			calls: o.calls.WithLabelValues(b, n), settled: o.settled.WithLabelValues(b, n),
			pages: o.pages.WithLabelValues(b, n), faults: o.pageFaults.WithLabelValues(b, n), latest: o.latest.WithLabelValues(b, n),
		}
		o.series[ref] = s
		o.addBox(b)
	}
	return s
}

// addBox makes the series of a box, so that they are there before the first event.
func (o *Observer) addBox(box string) {
	if o.boxes[box] {
		return
	}
	o.boxes[box] = true
	o.upkeep.WithLabelValues(box)
	for _, v := range []*prometheus.CounterVec{o.deleted, o.dropped, o.promoted, o.faults} {
		v.WithLabelValues(box)
	}
}

func (o *Observer) page(e relay.PageEvent) {
	s := o.of(e.Ref)
	if e.Err != nil {
		s.faults.Inc()
		return
	}
	s.pages.Inc()
}

func (o *Observer) call(e relay.CallEvent) {
	s := o.of(e.Ref)
	s.calls.Observe(e.Took.Seconds())
	for _, a := range e.Acceptances {
		if a.Attempt > 1 {
			s.later.Observe(a.Age.Seconds())
		} else {
			s.first.Observe(a.Age.Seconds())
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if e.Last > s.highest {
		s.highest = e.Last
		s.latest.Set(float64(e.Last))
	}
}

func (o *Observer) progress(e relay.ProgressEvent) { o.of(e.Ref).settled.Observe(e.Took.Seconds()) }

func (o *Observer) maintained(e relay.MaintenanceEvent) {
	if e.Promoted+e.Dropped+e.Copied+e.Deleted > 0 {
		o.upkeep.WithLabelValues(e.Box).Observe(e.Took.Seconds())
	}
	o.deleted.WithLabelValues(e.Box).Add(float64(e.Deleted))
	o.dropped.WithLabelValues(e.Box).Add(float64(e.Dropped))
	o.promoted.WithLabelValues(e.Box).Add(float64(e.Promoted))
	o.faults.WithLabelValues(e.Box).Add(float64(len(e.Faults)))
}
