// Postbag-sim plays Postbag from seeds, with faults, and says whether its promises
// held: docs/reliability.md.
//
//	postbag-sim -seeds 10000              seeds 0 to 9999, over all cores
//	postbag-sim -seed 4711 -trace         one of them, event by event
//	postbag-sim -seed 4711 -shrink        the same, cut down to what matters
//
// While it plays many seeds, it says every minute on the standard error how far it is.
// SIGINT or SIGTERM ends it early: it finishes the seeds that it has begun, and says
// how many were played and with which arguments to go on.
//
// Its exit code is 0 if every promise held, 1 if one was broken, 2 if it was called
// wrongly, and 3 if it was ended before all seeds were played, and none broke a promise.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program.
func run(args []string, out, errs io.Writer) int {
	c, err := parse(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return exitHeld
	}
	if err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return exitUsage
	}
	c.out, c.errs = out, errs
	debug.SetGCPercent(800) // runs leave much behind, and hold little
	if c.one {
		return c.playOne()
	}
	return c.playAll()
}

// What the program returns.
const (
	exitHeld       = 0
	exitViolated   = 1
	exitUsage      = 2
	exitIncomplete = 3
)
