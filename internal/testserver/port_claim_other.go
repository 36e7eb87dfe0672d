//go:build !linux

package testserver

// claim does nothing where names do not end with their process.
func claim(int) bool { return true }
