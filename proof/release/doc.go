// Package release makes a release of all modules that users fetch: their requirements of each
// other by version and without replacements, a module proxy in a folder, and the program for
// every platform with its checksums.
//
// The form of the proxy is that of the Go Modules Reference, "GOPROXY protocol"; module zips
// are those of golang.org/x/mod/zip, which the go command itself reads.
package release
