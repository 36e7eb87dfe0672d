// Package readbacktest measures what it costs a relay to read messages back that the publisher in its process has just written.
// It is for benchmarks of stores only. See docs/design/096-messages-given-in-memory.md.
package readbacktest
