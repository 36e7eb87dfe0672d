// Package prompostbag shows a relay and its store to Prometheus.
//
//	registry.MustRegister(prompostbag.NewCollector(prompostbag.Options{Stats: rel.Stats, Store: store}))
//
// The metrics are those that the postbag program serves at /metrics; docs/reference/metrics.md
// lists them and says which to be woken for. A program without a relay gives the
// store alone: backlog, ages and parked messages are read from it.
//
// Labels are boxes, subscriptions and states. Nothing of a message is ever in one.
package prompostbag
