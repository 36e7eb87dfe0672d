package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/prompostbag"
)

// ofSbmtOutbox are the metrics of sbmt-outbox, and what to look at instead.
var ofSbmtOutbox = []struct{ theirs, ours string }{
	{"outbox_created_counter", "`postbag_created_messages_total` of your program, or the increase of `postbag_log_last_seq`"},
	{"outbox_sent_counter", "`postbag_messages_delivered_total`"},
	{"outbox_error_counter", "`postbag_messages_dead_total`"},
	{"outbox_retry_counter", "`postbag_messages_rejected_total` and `postbag_messages_unknown_total`"},
	{"outbox_discarded_counter", "`postbag_messages_discarded_total`"},
	{"outbox_fetch_error_counter", "`postbag_page_faults_total` and `postbag_store_faults_total`"},
	{"outbox_deleted_counter", "`postbag_deleted_rows_total` and `postbag_dropped_partitions_total`"},
	{"outbox_last_stored_event_id", "`postbag_log_last_seq`"},
	{"outbox_last_sent_event_id", "`postbag_last_accepted_seq`"},
	{"outbox_process_latency", "`postbag_delivery_latency_seconds` with `attempt=\"first\"`"},
	{"outbox_retry_latency", "`postbag_delivery_latency_seconds` with `attempt=\"later\"`"},
	{"outbox_delete_latency", "`postbag_maintenance_duration_seconds`"},
	{"box_worker_job_counter", "`postbag_call_duration_seconds`, its count"},
	{"box_worker_job_timeout_counter", "`postbag_messages_unknown_total`"},
	{"box_worker_job_items_counter", "`postbag_messages_sent_total`"},
	{"box_worker_job_execution_runtime", "`postbag_call_duration_seconds`"},
	{"box_worker_item_execution_runtime", "`postbag_call_duration_seconds`: of a destination that takes one message a call it is that of a message"},
	{"box_worker_batches_per_poll_counter", "`postbag_pages_total`"},
	{"box_worker_redis_job_queue_size", "`postbag_messages_unsent`, and `postbag_backlog` of what is not read yet"},
	{"box_worker_redis_job_queue_time_lag", "`postbag_oldest_seconds`"},
	{"box_worker_poll_throttling_counter", "`postbag_circuit_opened_total`"},
	{"box_worker_poll_throttling_runtime", "`postbag_throttled_seconds_total`"},
}

// metricsOfSbmtOutbox writes the table of them, and checks that what it names is there.
func metricsOfSbmtOutbox(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("\n## Names in sbmt-outbox\n\nIf you come from sbmt-outbox, look at these instead of its metrics. Its label `name` is our `box`. We have no label for partitions: shards move between relays.\n\n| there | here |\n|---|---|\n")
	for _, m := range ofSbmtOutbox {
		fmt.Fprintf(b, "| `%s` | %s |\n", m.theirs, m.ours)
		named := regexp.MustCompile("`(postbag_[a-z_]+)`").FindAllStringSubmatch(m.ours, -1)
		if len(named) == 0 {
			t.Errorf("%s has no equivalent", m.theirs)
		}
		for _, n := range named {
			if !slices.ContainsFunc(prompostbag.Metrics(), func(m prompostbag.Metric) bool { return m.Name == n[1] }) {
				t.Errorf("in place of %s the page names %s, which is no metric", m.theirs, n[1])
			}
		}
	}
}

func TestEachMetricOfSbmtOutboxHasAnEquivalent(t *testing.T) {
	t.Parallel()
	metricsOfSbmtOutbox(t, new(strings.Builder))
	if len(ofSbmtOutbox) != 22 {
		t.Errorf("there are %d, want 22", len(ofSbmtOutbox))
	}
}
