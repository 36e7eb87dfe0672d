package admin

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// scrapeTimeout bounds what a scrape asks of the store.
const scrapeTimeout = 5 * time.Second

// collector reads the relay and the store whenever it is asked.
type collector struct {
	stats   func() relay.Stats
	store   store.Inspector
	metrics map[string]described
}

type described struct {
	Metric

	desc *prometheus.Desc
}

func newCollector(stats func() relay.Stats, s store.Inspector) *collector {
	c := &collector{stats: stats, store: s, metrics: make(map[string]described)}
	for _, m := range Metrics() {
		c.metrics[m.Name] = described{m, prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)}
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		ch <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	send := func(name string, v float64, labels ...string) {
		m := c.metrics[name]
		ch <- prometheus.MustNewConstMetric(m.desc, m.Kind, v, labels...)
	}
	s := c.stats()
	send(relayReady, one(s.Ready))
	send(relayCount, float64(s.Relays))
	send(storeTurns, float64(s.Turns))
	send(storeBeats, float64(s.Beats))
	send(storeFaults, float64(s.Faults))
	for i := range s.Subscriptions {
		collectSubscription(&s.Subscriptions[i], send)
	}
	c.collectStore(send)
}

func collectSubscription(f *relay.SubscriptionStats, send func(string, float64, ...string)) {
	for _, row := range []struct {
		name  string
		value int64
	}{
		{shardsHeld, int64(f.Shards)},
		{messagesRead, f.Read},
		{messagesSent, f.Sent},
		{messagesAccepted, f.Stats.Accepted},
		{messagesRejected, f.Rejected},
		{messagesUnknown, f.Unknown},
		{messagesParked, f.Parked},
		{messagesDead, f.Dead},
		{messagesDelivered, f.Delivered},
		{messagesFiltered, f.Filtered},
		{messagesDiscarded, f.Discarded},
		{messagesUnsettled, int64(f.Unsettled)},
		{messagesUnsent, int64(f.Unsent)},
	} {
		send(row.name, float64(row.value), f.Box, f.Subscription)
	}
	send(circuitOpen, one(f.Circuit != "closed"), f.Box, f.Subscription)
	at := 0.0
	if !f.Accepted.IsZero() {
		at = float64(f.Accepted.UnixMilli()) / 1000
	}
	send(lastAccepted, at, f.Box, f.Subscription)
}

// collectStore adds what only the store knows. One that does not answer leaves
// these out, and says so.
func (c *collector) collectStore(send func(string, float64, ...string)) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	o, err := c.store.Overview(ctx)
	send(storeUp, one(err == nil))
	for _, b := range o.Boxes {
		send(logLast, float64(b.Last), b.Name)
		send(logScheduled, float64(b.Scheduled), b.Name)
		for i := range b.Subscriptions {
			s := &b.Subscriptions[i]
			send(backlog, float64(s.Backlog), b.Name, s.Subscription)
			send(oldest, s.Oldest.Seconds(), b.Name, s.Subscription)
			for _, state := range []store.ParkState{store.Waiting, store.Blocked, store.InFlight, store.Dead} {
				send(parked, float64(s.Parked[state]), b.Name, s.Subscription, state.String())
			}
		}
	}
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
