//go:build !linux

package sqlitestore

// remoteFileSystem knows Linux only.
func remoteFileSystem(string) string { return "" }
