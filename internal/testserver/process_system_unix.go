//go:build unix && !linux

package testserver

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

const (
	sigStop     = syscall.SIGSTOP
	sigContinue = syscall.SIGCONT
	sigHangUp   = syscall.SIGHUP
	sigQuit     = syscall.SIGQUIT
	sigTerm     = syscall.SIGTERM
)

// setAttributes gives the child an account. There is no death signal here: only Close ends the server.
func setAttributes(cmd *exec.Cmd, as *account, _ os.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if as != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid, Groups: as.groups}
	}
}

type relative struct{ pid int }

// children asks pgrep, which every BSD and macOS has.
func children(pid int) []relative {
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil
	}
	var found []relative
	for _, word := range strings.Fields(string(out)) {
		if n, err := strconv.Atoi(word); err == nil {
			found = append(found, relative{pid: n})
		}
	}
	return found
}

func (r relative) alive() bool { return syscall.Kill(r.pid, 0) == nil }

func (r relative) signal(sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok {
		_ = syscall.Kill(r.pid, s)
	}
}

// owns says whether the account owns the file.
func (a *account) owns(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == a.uid
}

// detach puts a child into a process group of its own, so that a Ctrl-C meant for us does not reach it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func freeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }

// halted cannot be asked here: a stop is believed to take effect at once.
func halted(int) bool { return true }
