//go:build unix

package crowd

import "syscall"

// descriptors is how many files this process may have open. The runtime of Go has raised that as far as the system allows.
func descriptors() (n uint64, is bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, false
	}
	return uint64(limit.Cur), true //nolint:unconvert // elsewhere it has a sign
}
