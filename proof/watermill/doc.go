// Package watermill runs Watermill's own suite for a Pub/Sub over Postbag as its
// transport: a publisher that writes into a box, a relay, and a destination over
// another of Watermill's publishers, whose subscriber reads. It has tests only.
package watermill
