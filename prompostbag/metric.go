package prompostbag

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric is one row of the table of metrics, of which the reference page is made.
type Metric struct {
	Name, Help string
	// Kind of a histogram is UntypedValue.
	Kind   prometheus.ValueType
	Labels []string
}

// Type is what Prometheus calls the kind of the metric.
func (m Metric) Type() string {
	switch m.Kind {
	case prometheus.UntypedValue:
		return "histogram"
	case prometheus.CounterValue:
		return "counter"
	default:
		return "gauge"
	}
}

// The names of the metrics. Labels never hold ids, keys or anything of a message.
const (
	relayReady         = "postbag_relay_ready"
	relayCount         = "postbag_relays"
	storeTurns         = "postbag_store_turns_total"
	storeBeats         = "postbag_store_beats_total"
	storeFaults        = "postbag_store_faults_total"
	shardsHeld         = "postbag_shards"
	circuitOpen        = "postbag_circuit_open"
	lastAccepted       = "postbag_last_accepted_timestamp_seconds"
	messagesRead       = "postbag_messages_read_total"
	messagesSent       = "postbag_messages_sent_total"
	messagesAccepted   = "postbag_messages_accepted_total"
	messagesRejected   = "postbag_messages_rejected_total"
	messagesUnknown    = "postbag_messages_unknown_total"
	messagesParked     = "postbag_messages_parked_total"
	messagesDead       = "postbag_messages_dead_total"
	messagesDelivered  = "postbag_messages_delivered_total"
	messagesFiltered   = "postbag_messages_filtered_total"
	messagesDiscarded  = "postbag_messages_discarded_total"
	messagesSuperseded = "postbag_messages_superseded_total"
	messagesUnsettled  = "postbag_messages_unsettled"
	messagesUnsent     = "postbag_messages_unsent"
	paused             = "postbag_paused"
	throttled          = "postbag_throttled_seconds_total"
	unsettledLimit     = "postbag_messages_unsettled_limit"
	held               = "postbag_messages_held"
	heldLimit          = "postbag_messages_held_limit"
	bufferBytes        = "postbag_buffer_bytes"
	bufferLimit        = "postbag_buffer_limit_bytes"
	settlements        = "postbag_settlements_total"
	settlementsLost    = "postbag_settlements_lost_total"
	circuitOpened      = "postbag_circuit_opened_total"
	hooksDropped       = "postbag_hook_events_dropped_total"
	hookPanics         = "postbag_hook_panics_total"
	messageAge         = "postbag_delivery_latency_seconds"
	callTime           = "postbag_call_duration_seconds"
	settlementTime     = "postbag_settlement_duration_seconds"
	upkeepTime         = "postbag_maintenance_duration_seconds"
	pages              = "postbag_pages_total"
	pageFaults         = "postbag_page_faults_total"
	lastSent           = "postbag_last_accepted_seq"
	rowsDeleted        = "postbag_deleted_rows_total"
	partsDropped       = "postbag_dropped_partitions_total"
	promoted           = "postbag_promoted_messages_total"
	upkeepFaults       = "postbag_maintenance_faults_total"
	created            = "postbag_created_messages_total"
	logLast            = "postbag_log_last_seq"
	logScheduled       = "postbag_scheduled"
	backlog            = "postbag_backlog"
	oldest             = "postbag_oldest_seconds"
	parked             = "postbag_parked"
	parkedAtLeast      = "postbag_parked_at_least"
	storeUp            = "postbag_store_up"
	storeRelays        = "postbag_store_relays"
	storeDelivered     = "postbag_store_delivered_messages_total"
	storeDiscarded     = "postbag_store_discarded_messages_total"
	storeSuperseded    = "postbag_store_superseded_messages_total"
	logRows            = "postbag_log_rows"
	notices            = "postbag_notices"
	storePaused        = "postbag_store_paused"
	commands           = "postbag_commands"
	sourceOpen         = "postbag_source_open"
	sourceConsumed     = "postbag_source_consumed_total"
	sourceStored       = "postbag_source_stored_total"
	sourceRepeated     = "postbag_source_repeated_total"
	sourceFaulty       = "postbag_source_faulty_total"
	sourceLostAcks     = "postbag_source_lost_acks_total"
	sourceFailedAcks   = "postbag_source_failed_acks_total"
	sourceFailedWaits  = "postbag_source_failed_extends_total"
	sourceLostParts    = "postbag_source_lost_partitions_total"
	sourceLag          = "postbag_source_lag_messages"
	sourceLagAge       = "postbag_source_lag_seconds"

	consumerConsumed    = "postbag_consumer_consumed_total"
	consumerApplied     = "postbag_consumer_applied_total"
	consumerSkipped     = "postbag_consumer_skipped_total"
	consumerRepeated    = "postbag_consumer_repeated_total"
	consumerParked      = "postbag_consumer_parked_total"
	consumerDropped     = "postbag_consumer_dropped_total"
	consumerFailed      = "postbag_consumer_failed_attempts_total"
	consumerLostAcks    = "postbag_consumer_lost_acks_total"
	consumerFailedAcks  = "postbag_consumer_failed_acks_total"
	consumerFailedWaits = "postbag_consumer_failed_extends_total"
	consumerLostParts   = "postbag_consumer_lost_partitions_total"
	consumerLag         = "postbag_consumer_lag_messages"
	consumerLagAge      = "postbag_consumer_lag_seconds"
	handlerTime         = "postbag_handler_duration_seconds"
)

// Metrics returns the table of metrics.
func Metrics() []Metric { return append(collected(), observed()...) }

// collected are the metrics of a Collector.
func collected() []Metric { return slices.Concat(ofRelay(), ofStore(), ofSources(), ofConsumers()) }

// ofRelay are what a relay counts.
func ofRelay() []Metric {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	subscription := []string{"box", "subscription"}
	return []Metric{
		{relayReady, "One if the store answers this relay and its heartbeat is good.", gauge, nil},
		{relayCount, "Live relays, this one among them.", gauge, nil},
		{storeTurns, "Round trips of this relay that settle and read.", counter, nil},
		{storeBeats, "Heartbeats of this relay.", counter, nil},
		{storeFaults, "Calls of this relay that the store failed.", counter, nil},
		{shardsHeld, "Shards that this relay holds.", gauge, subscription},
		{circuitOpen, "One while the destination does not take messages.", gauge, subscription},
		{lastAccepted, "When the destination last confirmed a message, as Unix time; zero: not yet.", gauge, subscription},
		{messagesRead, "Messages that this relay read from the log.", counter, subscription},
		{messagesSent, "Messages that this relay sent, repeats among them.", counter, subscription},
		{messagesAccepted, "Messages that the destination confirmed.", counter, subscription},
		{messagesRejected, "Attempts that the destination refused.", counter, subscription},
		{messagesUnknown, "Attempts whose answer was lost.", counter, subscription},
		{messagesParked, "Messages that this relay parked.", counter, subscription},
		{messagesDead, "Messages that became dead, by cause: attempts, expired or rejected.", counter, append(subscription[:2:2], "cause")},
		{messagesDelivered, "Messages confirmed and settled.", counter, subscription},
		{messagesFiltered, "Messages that the subscription's filter refused.", counter, subscription},
		{messagesDiscarded, "Messages that an operator discarded.", counter, subscription},
		{messagesSuperseded, "Messages that a newer one of their key superseded.", counter, subscription},
		{messagesUnsettled, "Messages sent and not settled: what a crash may repeat.", gauge, subscription},
		{messagesUnsent, "Messages read ahead and not sent.", gauge, subscription},
		{throttled, "Time in which only the rate of the subscription kept messages from being sent.", counter, subscription},
		{paused, "Pauses that operators have set, by what they hold: subscription, destination, topic, type or key.", gauge, append(subscription[:2:2], "scope")},
		{unsettledLimit, "The most that postbag_messages_unsettled may be.", gauge, subscription},
		{held, "Messages that wait for topics that do not work, or for the end of a pause, as this relay knows them.", gauge, subscription},
		{heldLimit, "While so many messages are held, nothing more is read.", gauge, subscription},
		{bufferBytes, "What messages in memory weigh.", gauge, subscription},
		{bufferLimit, "The bound of postbag_buffer_bytes; one message that is larger still goes.", gauge, subscription},
		{settlements, "Settlements that the store has taken.", counter, subscription},
		{settlementsLost, "Settlements that were refused because the lease was lost.", counter, subscription},
		{circuitOpened, "How often the destination stopped taking messages.", counter, subscription},
		{hooksDropped, "Events that were dropped because hooks were too slow.", counter, nil},
		{hookPanics, "How often a hook panicked.", counter, nil},
	}
}

// ofStore are what only the store knows.
func ofStore() []Metric {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	box := []string{"box"}
	subscription := []string{"box", "subscription"}
	return []Metric{
		{storeUp, "One if the store answered this scrape; what follows is read from it, for all relays.", gauge, nil},
		{storeRelays, "Relays whose heartbeat is good, as the store knows them. Processes that work replays alone do not count.", gauge, nil},
		{logLast, "The last number that the box's log has given out.", gauge, box},
		{logRows, "About how many messages the log of the box holds.", gauge, box},
		{notices, "What the store reports of the last day, such as messages that retention kept since log and ledger differ.", gauge, box},
		{logScheduled, "Messages that wait for their time.", gauge, box},
		{backlog, "About how many messages wait to be read.", gauge, subscription},
		{oldest, "Age of the oldest message that waits to be read or is parked; zero: there is none.", gauge, subscription},
		{storePaused, "One while an operator holds the whole subscription; relays show the other pauses in postbag_paused.", gauge, subscription},
		{commands, "Commands of operators that no relay has carried out yet.", gauge, subscription},
		{storeDelivered, "Messages that were delivered since the subscription began, by all relays.", counter, subscription},
		{storeDiscarded, "Messages that were discarded since the subscription began.", counter, subscription},
		{storeSuperseded, "Messages that a newer one of their key superseded since the subscription began.", counter, subscription},
		{parked, "Parked messages by state, counted up to a million of each.", gauge, append(subscription[:2:2], "state")},
		{parkedAtLeast, "One while there may be more parked messages of a state than were counted.", gauge, append(subscription[:2:2], "state")},
	}
}

// ofSources are of what takes messages in.
func ofSources() []Metric {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	from := []string{"source", "box"}
	return []Metric{
		{sourceOpen, "One while the source is open and takes messages in.", gauge, from},
		{sourceConsumed, "Messages that came from the source.", counter, from},
		{sourceStored, "Messages that are new in the box, those with a fault among them.", counter, from},
		{sourceRepeated, "Messages that came again and were not stored again.", counter, from},
		{sourceFaulty, "Messages that were stored with a fault, for an operator to see.", counter, from},
		{sourceLostAcks, "Acknowledgements that came too late: those messages come again.", counter, from},
		{sourceFailedAcks, "Calls to acknowledge that failed; what the broker did not hear comes again.", counter, from},
		{sourceFailedWaits, "Calls that failed to tell the broker that messages are at work while the store is away.", counter, from},
		{sourceLostParts, "Partitions that went to other members of the group, or were taken away for a time, as in a rebalance.", counter, from},
		{sourceLag, "Messages that the broker holds for this group, if it tells.", gauge, from},
		{sourceLagAge, "Age of the oldest message that the broker holds for this group, if it tells.", gauge, from},
	}
}

// ofConsumers are of what calls a handler, in programs with one.
func ofConsumers() []Metric {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	consumer := []string{"consumer"}
	return []Metric{
		{consumerConsumed, "Messages that came to the consumer.", counter, consumer},
		{consumerApplied, "Messages whose handler's transaction has committed.", counter, consumer},
		{consumerSkipped, "Messages that were marked without an effect, since no route is for them.", counter, consumer},
		{consumerRepeated, "Messages that came again and were not applied again.", counter, consumer},
		{consumerParked, "Messages that the consumer stored in its box with a reason.", counter, consumer},
		{consumerDropped, "Messages that were given up before they began, because their partition was lost.", counter, consumer},
		{consumerFailed, "Attempts that failed, of those that count.", counter, consumer},
		{consumerLostAcks, "Acknowledgements of the consumer that came too late: those messages come again.", counter, consumer},
		{consumerFailedAcks, "Calls of the consumer to acknowledge that failed; they are made again.", counter, consumer},
		{consumerFailedWaits, "Calls of the consumer that failed to tell the broker that messages are at work.", counter, consumer},
		{consumerLostParts, "Partitions of the consumer that went to other members of the group, or were taken away for a time, as in a rebalance.", counter, consumer},
		{consumerLag, "Messages that the broker holds for the group of the consumer, if it tells.", gauge, consumer},
		{consumerLagAge, "Age of the oldest message that the broker holds for the group of the consumer, if it tells.", gauge, consumer},
	}
}

// observed are the metrics of an Observer.
func observed() []Metric {
	const gauge, counter, histogram = prometheus.GaugeValue, prometheus.CounterValue, prometheus.UntypedValue
	box := []string{"box"}
	subscription := []string{"box", "subscription"}
	return []Metric{
		{messageAge, "From when a message was stored to when the destination confirmed it, by its attempt: first or later.", histogram, append(subscription[:2:2], "attempt")},
		{callTime, "How long calls to the destination took.", histogram, subscription},
		{settlementTime, "How long the round trips took that settled something.", histogram, subscription},
		{upkeepTime, "How long rounds of housekeeping took that deleted or moved something.", histogram, box},
		{handlerTime, "How long calls of handlers took, in programs that measure it; the commit comes on top.", histogram, []string{"consumer"}},
		{pages, "Pages of the log that this relay read, empty ones among them.", counter, subscription},
		{pageFaults, "Pages of the log that could not be read.", counter, subscription},
		{lastSent, "The highest number in the log of a message that the destination confirmed to this relay; zero: none yet.", gauge, subscription},
		{rowsDeleted, "Rows that this relay deleted by retention.", counter, box},
		{partsDropped, "Partitions of the log that this relay dropped by retention.", counter, box},
		{promoted, "Scheduled messages that this relay moved into the log.", counter, box},
		{upkeepFaults, "What housekeeping refused to do, such as deleting what ledger and log disagree about.", counter, box},
		{created, "Messages that publishers of this program wrote, those of transactions that were rolled back among them.", counter, box},
	}
}
