package prompostbag

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
)

// Options say what a Collector shows. One of Stats, Store, Sources and
// Consumers is required.
type Options struct {
	// Stats is the Stats method of a running relay. Nil: no relay runs here, and the
	// metrics of one are left out.
	Stats func() relay.Stats
	// Store is asked at each scrape. Nil: what only the store knows is left out.
	Store store.Inspector
	// Every is how often the store is asked at most: scrapes in between are shown what it
	// said then. Zero: it is asked at each scrape.
	Every time.Duration
	// Sources returns the state of the sources that this program takes messages in from.
	// Nil: none.
	Sources func() []SourceStats
	// Consumers returns the state of the consumers with a handler of this program. Nil: none.
	Consumers func() []ConsumerStats
	// Timeout bounds a scrape. It asks the store and all sources at once, and shows what has
	// answered by then. Defaults to 5 s, since Prometheus gives up after 10 s by default.
	Timeout time.Duration
}

// Collector is a prometheus.Collector that reads the relay and the store whenever it
// is asked. It is safe for concurrent use. Between scrapes it keeps only what the store
// said, if Options.Every is set.
type Collector struct {
	options Options
	metrics map[string]described
	look    look
}

var _ prometheus.Collector = (*Collector)(nil)

type described struct {
	Metric

	desc *prometheus.Desc
}

// DefaultTimeout is that of Options.Timeout.
const DefaultTimeout = 5 * time.Second

// NewCollector returns a collector. Several of one registry need labels that tell
// them apart: see prometheus.WrapRegistererWith.
func NewCollector(o Options) *Collector {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	c := &Collector{options: o, metrics: make(map[string]described), look: look{free: make(chan struct{}, 1)}}
	for _, m := range collected() {
		c.metrics[m.Name] = described{m, prometheus.NewDesc(m.Name, m.Help, m.Labels, nil)}
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		ch <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	send := func(name string, v float64, labels ...string) {
		m := c.metrics[name]
		ch <- prometheus.MustNewConstMetric(m.desc, m.Kind, v, labels...)
	}
	if c.options.Stats != nil {
		collectRelay(c.options.Stats(), send)
	}
	a := c.ask()
	collectSources(a.sources, a.lags[:len(a.sources)], send)
	collectConsumers(a.consumers, a.lags[len(a.sources):], send)
	if c.options.Store != nil {
		collectStore(a.overview, a.err, send)
	}
}

func collectRelay(s relay.Stats, send func(string, float64, ...string)) {
	send(relayReady, one(s.Ready))
	send(relayCount, float64(s.Relays))
	send(storeTurns, float64(s.Turns))
	send(storeBeats, float64(s.Beats))
	send(storeFaults, float64(s.Faults))
	send(hooksDropped, float64(s.HooksDropped))
	send(hookPanics, float64(s.HookPanics))
	for i := range s.Subscriptions {
		collectSubscription(&s.Subscriptions[i], send)
	}
}

func collectSubscription(f *relay.SubscriptionStats, send func(string, float64, ...string)) {
	for _, row := range []struct {
		name  string
		value int64
	}{
		{shardsHeld, int64(f.Shards)},
		{messagesRead, f.Read},
		{messagesSent, f.Sent},
		{messagesAccepted, f.Accepted},
		{messagesRejected, f.Rejected},
		{messagesUnknown, f.Unknown},
		{messagesParked, f.Parked},
		{messagesDelivered, f.Delivered},
		{messagesFiltered, f.Filtered},
		{messagesDiscarded, f.Discarded},
		{messagesSuperseded, f.Superseded},
		{messagesUnsettled, int64(f.Unsettled)},
		{messagesUnsent, int64(f.Unsent)},
		{unsettledLimit, int64(f.UnsettledLimit)},
		{held, int64(f.Held)},
		{heldLimit, int64(f.HeldLimit)},
		{bufferBytes, int64(f.Bytes)},
		{bufferLimit, int64(f.BytesLimit)},
		{settlements, f.Settles},
		{settlementsLost, f.Lost},
		{circuitOpened, f.Opened},
	} {
		send(row.name, float64(row.value), f.Box, f.Subscription)
	}
	send(messagesDead, float64(f.DeadAttempts), f.Box, f.Subscription, store.CauseAttempts.String())
	send(messagesDead, float64(f.DeadExpired), f.Box, f.Subscription, store.CauseExpired.String())
	send(messagesDead, float64(f.DeadRejected), f.Box, f.Subscription, store.CauseRejected.String())
	send(throttled, f.Throttled.Seconds(), f.Box, f.Subscription)
	send(circuitOpen, one(f.Circuit != "closed"), f.Box, f.Subscription)
	for scope, n := range map[store.PauseScope]int{
		store.PauseSubscription: f.Pauses.Subscription, store.PauseDestination: f.Pauses.Destination,
		store.PauseTopic: f.Pauses.Topic, store.PauseType: f.Pauses.Type, store.PauseKey: f.Pauses.Key,
	} {
		send(paused, float64(n), f.Box, f.Subscription, string(scope))
	}
	at := 0.0
	if !f.AcceptedAt.IsZero() {
		at = float64(f.AcceptedAt.UnixMilli()) / 1000
	}
	send(lastAccepted, at, f.Box, f.Subscription)
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
