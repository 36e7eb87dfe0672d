// Package release makes a release of all modules that users fetch. The modules require each
// other by version and without replacements. A release has a module proxy in a folder, and
// the program for every platform with its checksums.
//
// The proxy follows the Go Modules Reference, "GOPROXY protocol". Module zips are made by
// golang.org/x/mod/zip, and the go command reads them.
package release
