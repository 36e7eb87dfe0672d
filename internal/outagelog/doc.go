// Package outagelog decides what the log tells of an outage. Kinds keeps lines apart that say
// something new from those that repeat it. Outage is one thing that fails and works again by
// turns, and does not fill the log. Nothing in it reads a clock, writes or starts a goroutine.
package outagelog
