//go:build !unix

package testserver

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Without these signals a server here can only be killed; Pause and the graceful stops report the error of the system.
const (
	sigStop     = syscall.SIGINT
	sigContinue = syscall.SIGINT
	sigHangUp   = syscall.SIGHUP
	sigQuit     = syscall.SIGKILL
	sigTerm     = syscall.SIGKILL
)

func setAttributes(*exec.Cmd, *account, os.Signal) {}

type relative struct{ pid int }

func children(int) []relative { return nil }

func (relative) alive() bool { return false }

func (relative) signal(os.Signal) {}

func (a *account) owns(os.FileInfo) bool { return a != nil }

func detach(*exec.Cmd) {}

func freeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }

// halted cannot be asked here: a stop is believed to take effect at once.
func halted(int) bool { return true }
