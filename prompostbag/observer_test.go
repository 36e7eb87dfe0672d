package prompostbag_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/prompostbag"
	"github.com/postbag/postbag/relay"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

var orders = store.Ref{Box: "outbox", Subscription: "orders"}

// gathered returns the families that an observer shows, by name.
func gathered(t *testing.T, c prometheus.Collector) map[string]*dto.MetricFamily {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]*dto.MetricFamily)
	for _, f := range families {
		out[f.GetName()] = f
	}
	return out
}

func TestLatenciesAreHistogramsThatAreClassicAndNative(t *testing.T) {
	t.Parallel()
	o := prompostbag.NewObserver()
	h := o.Hooks()
	h.Call(relay.CallEvent{Ref: orders, Messages: 4, Took: 20 * time.Millisecond, Last: 9, Acceptances: []relay.Acceptance{
		{Age: 3 * time.Millisecond, Attempt: 1}, {Age: 3 * time.Millisecond, Attempt: 1}, {Age: 2 * time.Second, Attempt: 2},
	}})
	h.Call(relay.CallEvent{Ref: orders, Messages: 1, Took: 10 * time.Millisecond, Last: 7})
	h.Settled(relay.ProgressEvent{Ref: orders, Took: time.Millisecond})
	h.Maintained(relay.MaintenanceEvent{Box: "outbox", Report: store.Report{Deleted: 5}, Took: time.Second})
	h.Maintained(relay.MaintenanceEvent{Box: "outbox", Took: time.Minute}) // found nothing to do
	got := gathered(t, o)
	for name, want := range map[string]uint64{
		"postbag_delivery_latency_seconds": 3, "postbag_call_duration_seconds": 2,
		"postbag_settlement_duration_seconds": 1, "postbag_maintenance_duration_seconds": 1,
	} {
		var n uint64
		for _, m := range got[name].GetMetric() {
			n += m.GetHistogram().GetSampleCount()
			if m.GetHistogram().Schema == nil || len(m.GetHistogram().GetBucket()) < 10 {
				t.Errorf("%s is not classic and native", name)
			}
		}
		if n != want {
			t.Errorf("%s has %d samples, want %d", name, n, want)
		}
	}
	for _, m := range got["postbag_delivery_latency_seconds"].GetMetric() {
		attempt, n := m.GetLabel()[0].GetValue(), m.GetHistogram().GetSampleCount()
		if attempt == "first" && n != 2 || attempt == "later" && n != 1 {
			t.Errorf("%d messages were confirmed at their %s attempt", n, attempt)
		}
	}
	if last := got["postbag_last_accepted_seq"].GetMetric()[0].GetGauge().GetValue(); last != 9 {
		t.Errorf("the last one confirmed is %v, want 9", last)
	}
}

func TestWhatHousekeepingDeletedMovedAndRefusedIsCounted(t *testing.T) {
	t.Parallel()
	o := prompostbag.NewObserver()
	for range 2 {
		o.Hooks().Maintained(relay.MaintenanceEvent{Box: "b", Report: store.Report{Deleted: 5, Dropped: 1, Promoted: 7, Faults: []string{"x"}}})
	}
	o.Hooks().PageRead(relay.PageEvent{Ref: orders, Messages: 3})
	o.Hooks().PageRead(relay.PageEvent{Ref: orders, Err: errors.New("gone")})
	want := `
# HELP postbag_deleted_rows_total Rows that this relay deleted by retention.
# TYPE postbag_deleted_rows_total counter
postbag_deleted_rows_total{box="b"} 10
postbag_deleted_rows_total{box="outbox"} 0
# HELP postbag_dropped_partitions_total Partitions of the log that this relay dropped by retention.
# TYPE postbag_dropped_partitions_total counter
postbag_dropped_partitions_total{box="b"} 2
postbag_dropped_partitions_total{box="outbox"} 0
# HELP postbag_maintenance_faults_total What housekeeping refused to do, such as deleting what ledger and log disagree about.
# TYPE postbag_maintenance_faults_total counter
postbag_maintenance_faults_total{box="b"} 2
postbag_maintenance_faults_total{box="outbox"} 0
# HELP postbag_page_faults_total Pages of the log that could not be read.
# TYPE postbag_page_faults_total counter
postbag_page_faults_total{box="outbox",subscription="orders"} 1
# HELP postbag_pages_total Pages of the log that this relay read, empty ones among them.
# TYPE postbag_pages_total counter
postbag_pages_total{box="outbox",subscription="orders"} 1
# HELP postbag_promoted_messages_total Scheduled messages that this relay moved into the log.
# TYPE postbag_promoted_messages_total counter
postbag_promoted_messages_total{box="b"} 14
postbag_promoted_messages_total{box="outbox"} 0
`
	if err := testutil.CollectAndCompare(o, strings.NewReader(want), "postbag_deleted_rows_total", "postbag_dropped_partitions_total",
		"postbag_maintenance_faults_total", "postbag_page_faults_total", "postbag_pages_total", "postbag_promoted_messages_total"); err != nil {
		t.Error(err)
	}
}

func TestWhatAPublisherWroteIsCounted(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	if err := s.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	o := prompostbag.NewObserver()
	refuse := postbag.WrapEach(func(_ context.Context, m *postbag.Message) error {
		if m.Key == "bad" {
			return errors.New("bad")
		}
		return nil
	})
	pub, err := postbag.NewPublisher(s, o.Publisher(postbag.PublisherOptions{Wrap: refuse}))
	if err != nil {
		t.Fatal(err)
	}
	for _, keys := range [][]string{{"a", "b", "c"}, {"a", "bad"}} {
		msgs := make([]postbag.Message, len(keys))
		for i, k := range keys {
			msgs[i].Key = k
		}
		err = pub.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error { return pub.Publish(ctx, tx, msgs...) })
	}
	if err == nil {
		t.Error("a message that the other wrap refuses was written")
	}
	want := `
# HELP postbag_created_messages_total Messages that publishers of this program wrote, those of transactions that were rolled back among them.
# TYPE postbag_created_messages_total counter
postbag_created_messages_total{box="outbox"} 3
`
	if err := testutil.CollectAndCompare(o, strings.NewReader(want), "postbag_created_messages_total"); err != nil {
		t.Error(err)
	}
}

// BenchmarkObserver is what the histograms cost a message, in calls of 500 and of one. It is spent in the goroutine of the hooks.
func BenchmarkObserver(b *testing.B) {
	for name, n := range map[string]int{"calls of 500": 500, "calls of 1": 1} {
		b.Run(name, func(b *testing.B) {
			o := prompostbag.NewObserver()
			call := o.Hooks().Call
			e := relay.CallEvent{Ref: orders, Messages: n, Took: time.Millisecond, Acceptances: make([]relay.Acceptance, n)}
			for i := range e.Acceptances {
				e.Acceptances[i] = relay.Acceptance{Age: time.Duration(i) * 37 * time.Microsecond, Attempt: 1}
			}
			b.ReportAllocs()
			for done := 0; done < b.N; done += n {
				call(e)
			}
		})
	}
}
