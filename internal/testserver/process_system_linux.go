package testserver

import (
	"os"
	"os/exec"
	"path/filepath"
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

// setAttributes gives the child an account and has the kernel send it the death signal when the forking thread ends.
// Go sets the account first: a change of account would clear the death signal.
func setAttributes(cmd *exec.Cmd, as *account, death os.Signal) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if sig, ok := death.(syscall.Signal); ok {
		attr.Pdeathsig = sig
	}
	if as != nil {
		attr.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid, Groups: as.groups}
	}
	cmd.SysProcAttr = attr
}

// relative is one process, told from a later one with the same number by its time of birth.
type relative struct {
	pid   int
	birth string
}

// children returns the living children of a process.
func children(pid int) []relative {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []relative
	for _, entry := range entries {
		n, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, ok := readStat(n); ok && s.parent == pid && !s.dead {
			found = append(found, relative{pid: n, birth: s.birth})
		}
	}
	return found
}

// alive says whether it still runs. A zombie does not: it waits only for a parent to look.
func (r relative) alive() bool {
	s, ok := readStat(r.pid)
	return ok && !s.dead && s.birth == r.birth
}

func (r relative) signal(sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok && r.alive() {
		_ = syscall.Kill(r.pid, s)
	}
}

type procStat struct {
	parent  int
	dead    bool
	stopped bool
	birth   string
}

// readStat reads /proc/PID/stat (proc(5)): after the name in parentheses come the state, the parent and, as the 22nd
// field of all, the time of birth.
func readStat(pid int) (procStat, bool) {
	return readStatFile("/proc/" + strconv.Itoa(pid) + "/stat")
}

func readStatFile(path string) (procStat, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return procStat{}, false
	}
	_, rest, ok := cutLast(string(text), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return procStat{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	return procStat{
		parent: parent, birth: fields[19],
		dead: fields[0] == "Z" || fields[0] == "X", stopped: fields[0] == "T" || fields[0] == "t",
	}, err == nil
}

// halted says whether every thread of a process is stopped. A signal only asks for that.
func halted(pid int) bool {
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
	if err != nil {
		return true
	}
	for _, task := range tasks {
		if s, ok := readStatFile(task); ok && !s.stopped && !s.dead {
			return false
		}
	}
	return true
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// owns says whether the account owns the file.
func (a *account) owns(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == a.uid
}

// detach puts a child into a process group of its own, so that a Ctrl-C meant for us does not reach it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// freeBytes is what an ordinary user may still write in the file system of a folder.
func freeBytes(dir string) (int64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}
