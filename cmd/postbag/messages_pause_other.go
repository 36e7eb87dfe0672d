//go:build !unix

package main

import "os"

// holdSignals is empty: Ctrl-Z sends no signal here.
var holdSignals []os.Signal
