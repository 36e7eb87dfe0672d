// Package gate counts the calls that are inside a thing, so that closing it can
// refuse new ones and wait for those.
package gate
