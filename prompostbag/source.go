package prompostbag

import (
	"time"

	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
)

// SourceStats are what is shown of a source and the inbox.Receiver that takes its messages in.
type SourceStats struct {
	// Source and Box are the labels. No two sources of a collector have both the same.
	Source, Box string
	// Open says whether messages are taken in.
	Open bool
	// Received is what the receiver counted.
	Received inbox.ReceiverStats
	// From is asked at each scrape how far its group is behind, if it is a source.Lagger, within
	// Options.Timeout. Nil: that is left out.
	From source.Source
}

// collectSources adds what is known of the sources, and of their lags. One that did not answer has none.
func collectSources(sources []SourceStats, lags [][]source.Lag, send func(string, float64, ...string)) {
	for i, s := range sources {
		send(sourceOpen, one(s.Open), s.Source, s.Box)
		for _, row := range []struct {
			name  string
			value int64
		}{
			{sourceConsumed, s.Received.Fetched},
			{sourceStored, s.Received.Stored},
			{sourceRepeated, s.Received.Repeated},
			{sourceFaulty, s.Received.Faulty},
			{sourceLostAcks, s.Received.Lost},
			{sourceFailedAcks, s.Received.FailedAcks},
			{sourceFailedWaits, s.Received.FailedExtends},
			{sourceLostParts, s.Received.LostPartitions},
		} {
			send(row.name, float64(row.value), s.Source, s.Box)
		}
		if lags[i] != nil {
			collectLag(lags[i], func(messages bool, v float64) {
				name := sourceLagAge
				if messages {
					name = sourceLag
				}
				send(name, v, s.Source, s.Box)
			})
		}
	}
}

// collectLag adds what a source knows of the messages that wait: the sum over its
// partitions, and the age of the oldest.
func collectLag(all []source.Lag, send func(messages bool, v float64)) {
	var messages int64
	var age time.Duration
	counted, dated := true, true
	for _, l := range all {
		messages, age = messages+l.Messages, max(age, l.Age)
		counted, dated = counted && l.Messages >= 0, dated && l.Age >= 0
	}
	if counted {
		send(true, float64(messages))
	}
	if dated {
		send(false, age.Seconds())
	}
}
