//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package testserver

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// claims are what this process has claimed, until it ends.
var claims struct {
	sync.Mutex

	files map[int]*os.File
}

// claim makes a port this process's own among all that start servers here: nobody else is given it while its server is down, to be
// started again. It is a lock on a file, which ends with the process. Where no such file can be made, nothing is claimed, and true is
// returned.
func claim(port int) bool {
	claims.Lock()
	defer claims.Unlock()
	if claims.files[port] != nil {
		return false
	}
	folder := filepath.Join(os.TempDir(), "postbag-ports")
	if os.Mkdir(folder, 0o700) == nil {
		_ = os.Chmod(folder, 0o777|os.ModeSticky) // for all accounts, whatever the umask
	}
	name := filepath.Join(folder, strconv.Itoa(port))
	f, err := os.Open(name) // Linux may refuse to create what another account has made here
	if err != nil {
		f, err = os.OpenFile(name, os.O_CREATE|os.O_RDONLY, 0o644) //nolint:gosec // others may read it: it is empty
	}
	if err != nil {
		return true
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return false
	}
	if claims.files == nil {
		claims.files = map[int]*os.File{}
	}
	claims.files[port] = f
	return true
}
