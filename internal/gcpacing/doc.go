// Package gcpacing makes garbage collections rarer in a process that is a relay and
// little else. A relay keeps a few megabytes and throws away a page's worth every
// millisecond: with Go's default it would collect every four megabytes, which is as
// much work as all the rest.
package gcpacing
