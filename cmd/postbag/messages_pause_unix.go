//go:build unix

package main

import (
	"os"
	"syscall"
)

// holdSignals is what Ctrl-Z sends. A process that stops by it may stop within a transaction, whose locks stay.
var holdSignals = []os.Signal{syscall.SIGTSTP}
