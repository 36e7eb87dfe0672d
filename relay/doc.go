// Package relay delivers what was published: it reads the boxes of a store in
// order, sends each message to its subscription's destination, and settles what
// was accepted.
//
//	rel, err := relay.New(store, relay.Options{Subscriptions: []relay.Subscription{{To: dest}}})
//	go rel.Run(ctx)
//
// A relay may run inside the application or as a process of its own, and any
// number of them may share the work: each takes its fair share of the shards by
// leases in the database, and what a dead one held is taken over when its time is
// out. Outages of the store or of a destination do not end Run: it waits, tries
// again and goes on.
//
// The decisions are those of package internal/engine, which is pure. This package
// is the shell around it: one goroutine, the loop, owns all state, and each call
// to the store or to a destination is a goroutine that hands its answer to the
// loop.
package relay
