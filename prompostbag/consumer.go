package prompostbag

import (
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
)

// ConsumerStats are what is shown of an inbox.Consumer, which calls a handler for the messages of a source.
type ConsumerStats struct {
	// Consumer is the label. No two consumers of a collector have the same.
	Consumer string
	// Applied is what it counted (inbox.Consumer.Stats).
	Applied inbox.ConsumerStats
	// From is asked at each scrape how far its group is behind, as SourceStats.From is. Nil: that is left out.
	From source.Source
}

// collectConsumers adds what is known of the consumers, and of their lags. One that did not answer has none.
func collectConsumers(consumers []ConsumerStats, lags [][]source.Lag, send func(string, float64, ...string)) {
	for i, s := range consumers {
		for _, row := range []struct {
			name  string
			value int64
		}{
			{consumerConsumed, s.Applied.Fetched},
			{consumerApplied, s.Applied.Applied},
			{consumerSkipped, s.Applied.Skipped},
			{consumerRepeated, s.Applied.Repeated},
			{consumerParked, s.Applied.Parked},
			{consumerDropped, s.Applied.Dropped},
			{consumerFailed, s.Applied.Failed},
			{consumerLostAcks, s.Applied.Lost},
			{consumerFailedAcks, s.Applied.FailedAcks},
			{consumerFailedWaits, s.Applied.FailedExtends},
			{consumerLostParts, s.Applied.LostPartitions},
		} {
			send(row.name, float64(row.value), s.Consumer)
		}
		if lags[i] != nil {
			collectLag(lags[i], func(messages bool, v float64) {
				name := consumerLagAge
				if messages {
					name = consumerLag
				}
				send(name, v, s.Consumer)
			})
		}
	}
}
