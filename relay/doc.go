// Package relay delivers what you published. It reads the boxes of a store in order,
// sends each message to its subscription's destination, and settles what was accepted.
//
//	rel, err := relay.New(store, relay.Options{Subscriptions: []relay.Subscription{{To: dest}}})
//	go rel.Run(ctx)
//
// A relay runs inside your application or as a process of its own. Any number of relays
// can share the work: each takes its fair share of the shards, by leases in the database.
// If a relay dies, the others take its shards over when its leases run out. Outages of
// the store or of a destination do not end Run: it waits, tries again and goes on.
//
// Packages internal/core and internal/engine make the decisions, without any I/O. This
// package is the shell around them. One goroutine, the loop, owns all state. Each call to
// the store or to a destination is a goroutine that gives its answer to the loop.
package relay
