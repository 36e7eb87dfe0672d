package prompostbag_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/membroker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/prompostbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// away is a store that does not answer.
type away struct{ store.Inspector }

func (away) Overview(context.Context) (store.Overview, error) {
	return store.Overview{}, errors.New("away")
}

func names(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range families {
		out.WriteString(f.GetName() + "\n")
	}
	return out.String()
}

func TestTheTimeThatARateHeldMessagesBackIsShown(t *testing.T) {
	t.Parallel()
	stats := func() relay.Stats {
		return relay.Stats{Subscriptions: []relay.SubscriptionStats{{Ref: store.Ref{Box: "b", Subscription: "s"}, Throttled: 1500 * time.Millisecond}}}
	}
	c := prompostbag.NewCollector(prompostbag.Options{Stats: stats})
	const want = `# HELP postbag_throttled_seconds_total Time in which only the rate of the subscription kept messages from being sent.
# TYPE postbag_throttled_seconds_total counter
postbag_throttled_seconds_total{box="b",subscription="s"} 1.5
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "postbag_throttled_seconds_total"); err != nil {
		t.Error(err)
	}
}

func TestARelayInAProgramShowsEveryMetric(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	if err := s.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	observer := prompostbag.NewObserver()
	rel, err := relay.New(s, relay.Options{
		Subscriptions: []relay.Subscription{{To: membroker.New(membroker.Options{})}}, Hooks: []relay.Hooks{observer.Hooks()},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- rel.Run(ctx) }()
	pub, err := postbag.NewPublisher(s, observer.Publisher(postbag.PublisherOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := pub.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return pub.Publish(ctx, tx, postbag.Message{Topic: "t"})
	}); err != nil {
		t.Fatal(err)
	}
	for subs := rel.Stats().Subscriptions; len(subs) == 0 || subs[0].Delivered == 0; subs = rel.Stats().Subscriptions {
		<-time.After(time.Millisecond)
	}
	c := prompostbag.NewCollector(prompostbag.Options{Stats: rel.Stats, Store: s, Sources: func() []prompostbag.SourceStats {
		return []prompostbag.SourceStats{{Source: "orders", Box: "inbox", From: memsource.New(memsource.Options{}).Join("billing")}}
	}, Consumers: func() []prompostbag.ConsumerStats {
		return []prompostbag.ConsumerStats{{Consumer: "billing", From: memsource.New(memsource.Options{}).Join("billing")}}
	}})
	prompostbag.Handler[*memstore.Tx](observer, "billing")
	got := names(t, c)
	for shown := gathered(t, observer); len(shown["postbag_call_duration_seconds"].GetMetric()) == 0; shown = gathered(t, observer) {
		<-time.After(time.Millisecond)
	}
	got += names(t, observer)
	for _, m := range prompostbag.Metrics() {
		if !strings.Contains(got, m.Name+"\n") {
			t.Errorf("%s is missing", m.Name)
		}
		got = strings.Replace(got, m.Name+"\n", "", 1)
	}
	if got != "" {
		t.Errorf("these are not in the table: %s", got)
	}
	want := `
# HELP postbag_messages_delivered_total Messages confirmed and settled.
# TYPE postbag_messages_delivered_total counter
postbag_messages_delivered_total{box="outbox",subscription="default"} 1
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "postbag_messages_delivered_total"); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAStoreWithoutARelayShowsItsBacklog(t *testing.T) {
	t.Parallel()
	got := names(t, prompostbag.NewCollector(prompostbag.Options{Store: memstore.New(memstore.Options{})}))
	if !strings.Contains(got, "postbag_store_up\n") || strings.Contains(got, "postbag_relay_ready") {
		t.Errorf("it shows\n%s", got)
	}
}

func TestARelayIsShownWhenItsStoreIsAway(t *testing.T) {
	t.Parallel()
	c := prompostbag.NewCollector(prompostbag.Options{Stats: func() relay.Stats { return relay.Stats{Turns: 7} }, Store: away{}, Timeout: time.Second})
	want := `
# HELP postbag_store_turns_total Round trips of this relay that settle and read.
# TYPE postbag_store_turns_total counter
postbag_store_turns_total 7
# HELP postbag_store_up One if the store answered this scrape; what follows is read from it, for all relays.
# TYPE postbag_store_up gauge
postbag_store_up 0
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "postbag_store_turns_total", "postbag_store_up"); err != nil {
		t.Error(err)
	}
	if got := names(t, c); strings.Contains(got, "postbag_backlog") {
		t.Error("there is a backlog, which only the store knows")
	}
}

// counting counts how often it is asked.
type counting struct {
	store.Inspector

	asked *int
	err   error
}

func (c counting) Overview(context.Context) (store.Overview, error) {
	*c.asked++
	replay := store.Ref{Box: "outbox", Subscription: "replay-1"}
	relays := []store.RelayState{{}, {Works: []store.Ref{{Box: "outbox", Subscription: "default"}, replay}}, {Works: []store.Ref{replay}}} // the last does not count
	return store.Overview{Relays: relays, Boxes: []store.BoxView{{
		Name: "outbox", Rows: 7, Notices: make([]store.Notice, 1), Subscriptions: []store.SubscriptionView{{
			SubscriptionState: store.SubscriptionState{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Paused: true},
			Delivered:         40, Discarded: 2, Superseded: 5, Commands: 3,
		}, {SubscriptionState: store.SubscriptionState{Ref: replay}, Replay: &store.Replay{Ref: replay, Of: "default"}}},
	}}}, c.err
}

func TestTheStoreIsAskedNoMoreOftenThanToldHoweverOftenScrapesCome(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]error{"it answers": nil, "it is away": errors.New("away")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				c := prompostbag.NewCollector(prompostbag.Options{Store: counting{asked: &asked, err: failing}, Every: 10 * time.Second})
				for _, want := range []int{1, 1, 1, 2, 2, 2, 3} { // every four seconds
					names(t, c)
					if asked != want {
						t.Fatalf("it was asked %d times, want %d", asked, want)
					}
					<-time.After(4 * time.Second)
				}
			})
		})
	}
}

func TestWhatTheStoreCountsIsShownWithoutARelay(t *testing.T) {
	t.Parallel()
	asked := 0
	c := prompostbag.NewCollector(prompostbag.Options{Store: counting{asked: &asked}})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		one := f.GetMetric()[0]
		got[f.GetName()] = one.GetCounter().GetValue() + one.GetGauge().GetValue()
	}
	for name, want := range map[string]float64{
		"postbag_store_relays": 2, "postbag_log_rows": 7, "postbag_notices": 1, "postbag_store_paused": 1, "postbag_commands": 3,
		"postbag_store_delivered_messages_total": 40, "postbag_store_discarded_messages_total": 2,
		"postbag_store_superseded_messages_total": 5,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

// crowded has more parked messages than are counted.
type crowded struct{ store.Inspector }

func (crowded) Overview(context.Context) (store.Overview, error) {
	return store.Overview{Boxes: []store.BoxView{{Name: "outbox", Subscriptions: []store.SubscriptionView{{
		SubscriptionState: store.SubscriptionState{Ref: store.Ref{Box: "outbox", Subscription: "default"}},
		Parked:            map[store.ParkState]int64{store.ParkDead: store.CountedParked, store.ParkHeld: 7},
	}}}}}, nil
}

func TestAnIncompleteCountIsMarkedAsSuch(t *testing.T) {
	t.Parallel()
	c := prompostbag.NewCollector(prompostbag.Options{Store: crowded{}})
	want := `
# HELP postbag_parked_at_least One while there may be more parked messages of a state than were counted.
# TYPE postbag_parked_at_least gauge
postbag_parked_at_least{box="outbox",state="blocked",subscription="default"} 0
postbag_parked_at_least{box="outbox",state="dead",subscription="default"} 1
postbag_parked_at_least{box="outbox",state="held",subscription="default"} 0
postbag_parked_at_least{box="outbox",state="in-flight",subscription="default"} 0
postbag_parked_at_least{box="outbox",state="retrying",subscription="default"} 0
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "postbag_parked_at_least"); err != nil {
		t.Error(err)
	}
}

// behind is a source that says how far its group is behind.
type behind struct {
	source.Source

	lag []source.Lag
	err error
}

func (b behind) Lag(ctx context.Context) ([]source.Lag, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return b.lag, b.err
}

// hanging is a source that never answers.
type hanging struct{ source.Source }

func (hanging) Lag(ctx context.Context) ([]source.Lag, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestASourceThatDoesNotAnswerHidesNoOther(t *testing.T) {
	t.Parallel()
	c := prompostbag.NewCollector(prompostbag.Options{Timeout: 200 * time.Millisecond, Sources: func() []prompostbag.SourceStats {
		return []prompostbag.SourceStats{
			{Source: "a", Box: "inbox", Open: true, From: hanging{}},
			{Source: "b", Box: "inbox", Open: true, From: behind{lag: []source.Lag{{Messages: 7}}}},
			{Source: "c", Box: "inbox", Open: true, From: hanging{}},
		}
	}})
	want := `
# HELP postbag_source_lag_messages Messages that the broker holds for this group, if it tells.
# TYPE postbag_source_lag_messages gauge
postbag_source_lag_messages{box="inbox",source="b"} 7
# HELP postbag_source_open One while the source is open and takes messages in.
# TYPE postbag_source_open gauge
postbag_source_open{box="inbox",source="a"} 1
postbag_source_open{box="inbox",source="b"} 1
postbag_source_open{box="inbox",source="c"} 1
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "postbag_source_lag_messages", "postbag_source_open"); err != nil {
		t.Error(err)
	}
}

// slow is a store that never answers.
type slow struct{ store.Inspector }

func (slow) Overview(ctx context.Context) (store.Overview, error) {
	<-ctx.Done()
	return store.Overview{}, context.Cause(ctx)
}

// Prometheus gives up after 10 s by default, and then shows nothing at all of the process.
func TestAScrapeEndsInTimeThoughStoreSourcesAndConsumersHang(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]time.Duration{"the store is asked each time": 0, "the store is asked now and then": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := prompostbag.NewCollector(prompostbag.Options{
					Store: slow{}, Every: every,
					Sources: func() []prompostbag.SourceStats {
						return []prompostbag.SourceStats{
							{Source: "a", Box: "inbox", From: hanging{}}, {Source: "b", Box: "inbox", From: behind{lag: []source.Lag{{Messages: 7}}}},
						}
					},
					Consumers: func() []prompostbag.ConsumerStats {
						return []prompostbag.ConsumerStats{{Consumer: "c", From: hanging{}}, {Consumer: "d", From: behind{lag: []source.Lag{{Messages: 8}}}}}
					},
				})
				began := time.Now()
				shown := gathered(t, c)
				if took := time.Since(began); took > prompostbag.DefaultTimeout {
					t.Errorf("a scrape took %s, want %s at most", took, prompostbag.DefaultTimeout)
				}
				for name, want := range map[string]float64{"postbag_source_lag_messages": 7, "postbag_consumer_lag_messages": 8, "postbag_store_up": 0} {
					if got := shown[name].GetMetric(); len(got) != 1 || got[0].GetGauge().GetValue() != want {
						t.Errorf("%s is %v, want %v", name, got, want)
					}
				}
			})
		})
	}
}

// Two servers of Prometheus scrape at one time, and the second waits for what the first is told.
func TestAScrapeThatWaitsForAnotherEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := prompostbag.NewCollector(prompostbag.Options{Store: slow{}, Every: time.Nanosecond})
		began := time.Now()
		var scrapes sync.WaitGroup
		for range 3 {
			scrapes.Go(func() { _ = names(t, c) })
		}
		scrapes.Wait()
		if took := time.Since(began); took > prompostbag.DefaultTimeout {
			t.Errorf("three scrapes took %s, want %s at most", took, prompostbag.DefaultTimeout)
		}
	})
}

func TestTheLagOfASourceIsTheSumOfItsPartitionsAndTheAgeOfTheOldest(t *testing.T) {
	t.Parallel()
	known := []source.Lag{{Messages: 3, Age: time.Second}, {Messages: 4, Age: 5 * time.Second}, {}}
	for name, c := range map[string]struct {
		from behind
		want string
	}{
		"known":          {behind{lag: known}, "# HELP postbag_source_lag_messages Messages that the broker holds for this group, if it tells.\n# TYPE postbag_source_lag_messages gauge\npostbag_source_lag_messages{box=\"inbox\",source=\"orders\"} 7\n# HELP postbag_source_lag_seconds Age of the oldest message that the broker holds for this group, if it tells.\n# TYPE postbag_source_lag_seconds gauge\npostbag_source_lag_seconds{box=\"inbox\",source=\"orders\"} 5\n"},
		"without counts": {behind{lag: append(known[:2:2], source.Lag{Messages: -1, Age: -1})}, ""},
		"without answer": {behind{err: errors.New("away")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			collector := prompostbag.NewCollector(prompostbag.Options{Sources: func() []prompostbag.SourceStats {
				return []prompostbag.SourceStats{{Source: "orders", Box: "inbox", Open: true, From: c.from}}
			}})
			if err := testutil.CollectAndCompare(collector, strings.NewReader(c.want), "postbag_source_lag_messages", "postbag_source_lag_seconds"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatAReceiverCountedIsShown(t *testing.T) {
	t.Parallel()
	c := prompostbag.NewCollector(prompostbag.Options{Sources: func() []prompostbag.SourceStats {
		return []prompostbag.SourceStats{{Source: "orders", Box: "inbox", Received: inbox.ReceiverStats{Fetched: 9, Stored: 5, Repeated: 4, Faulty: 2, Lost: 1, FailedAcks: 6, FailedExtends: 7, LostPartitions: 8}}}
	}})
	want := map[string]float64{
		"postbag_source_open": 0, "postbag_source_failed_acks_total": 6, "postbag_source_failed_extends_total": 7, "postbag_source_consumed_total": 9, "postbag_source_stored_total": 5,
		"postbag_source_repeated_total": 4, "postbag_source_faulty_total": 2, "postbag_source_lost_acks_total": 1, "postbag_source_lost_partitions_total": 8,
	}
	if got := values(t, c); !maps.Equal(got, want) {
		t.Errorf("it shows %v, want %v", got, want)
	}
}

func TestWhatAConsumerCountedIsShown(t *testing.T) {
	t.Parallel()
	c := prompostbag.NewCollector(prompostbag.Options{Consumers: func() []prompostbag.ConsumerStats {
		return []prompostbag.ConsumerStats{{
			Consumer: "billing", From: behind{lag: []source.Lag{{Messages: 12, Age: 13 * time.Second}}}, Applied: inbox.ConsumerStats{
				Fetched: 1, Applied: 2, Skipped: 3, Repeated: 4, Parked: 5, Dropped: 6, Failed: 7, Lost: 8, FailedAcks: 9, FailedExtends: 10, LostPartitions: 11,
			},
		}}
	}})
	want := map[string]float64{}
	for i, name := range []string{
		"consumed_total", "applied_total", "skipped_total", "repeated_total", "parked_total", "dropped_total", "failed_attempts_total", "lost_acks_total",
		"failed_acks_total", "failed_extends_total", "lost_partitions_total", "lag_messages", "lag_seconds",
	} {
		want["postbag_consumer_"+name] = float64(i + 1)
	}
	if got := values(t, c); !maps.Equal(got, want) {
		t.Errorf("it shows %v, want %v", got, want)
	}
}

// values returns the first value of each metric that c shows.
func values(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for name, f := range gathered(t, c) {
		one := f.GetMetric()[0]
		got[name] = one.GetCounter().GetValue() + one.GetGauge().GetValue()
	}
	return got
}

// One call that fails and one that panics count, too.
func TestHowLongHandlersTakeIsMeasured(t *testing.T) {
	t.Parallel()
	o := prompostbag.NewObserver()
	call := prompostbag.Handler[*memstore.Tx](o, "billing")(func(_ context.Context, _ *memstore.Tx, m *inbox.Message) error {
		if m.Attempt == 2 {
			panic("no")
		}
		return errors.New("not yet")
	})
	_ = call(t.Context(), nil, &inbox.Message{Attempt: 1}) // its error is its own
	func() {
		defer func() { _ = recover() }() // the consumer does
		_ = call(t.Context(), nil, &inbox.Message{Attempt: 2})
	}()
	pages := prompostbag.BatchHandler[*memstore.Tx](o, "pages")(func(context.Context, *memstore.Tx, []*inbox.Message) error { return nil })
	if err := pages(t.Context(), nil, make([]*inbox.Message, 500)); err != nil {
		t.Error(err)
	}
	got := gathered(t, o)["postbag_handler_duration_seconds"].GetMetric()
	if len(got) != 2 || got[0].GetHistogram().GetSampleCount() != 2 || got[1].GetHistogram().GetSampleCount() != 1 || got[0].GetLabel()[0].GetValue() != "billing" {
		t.Errorf("it shows %v", got)
	}
}
