// Package gcpacing makes garbage collections rarer in a process that does little more
// than relay. A relay keeps a few megabytes, and throws away a page's worth every
// millisecond. With Go's default it would collect every four megabytes, which is as much
// work as all the rest.
package gcpacing
