// Package prompostbag shows a relay and its store to Prometheus.
//
//	registry.MustRegister(prompostbag.NewCollector(prompostbag.Options{Stats: rel.Stats, Store: store}))
//
// The metrics are those that the postbag program serves at /metrics.
// docs/reference/metrics.md lists them, and says which should wake you up. If your
// program has no relay, set only the Store: backlog, ages and parked messages are read
// from it.
//
// Labels are boxes, subscriptions and states. They never hold anything of a message.
package prompostbag
