// Package watermill runs Watermill's own suite for a Pub/Sub with Postbag as the
// transport. A publisher writes into a box. A relay reads it, and its destination is
// another of Watermill's publishers, whose subscriber reads. It has tests only.
package watermill
