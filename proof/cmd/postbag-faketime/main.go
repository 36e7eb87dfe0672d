// Postbag-faketime plays the real relay in fake time from seeds, with faults, and says whether its promises held:
// docs/reliability.md.
//
//	postbag-faketime -seeds 5000              seeds 0 to 4999 of each kind, over all cores
//	postbag-faketime -seeds 5000 -from 5000   the next ones
//	postbag-faketime -seed 4711 -kind faults  one of them
//	postbag-faketime -seed 4711 -times 100    one of them, many times: how goroutines interleave is not drawn
//
// Its exit code is 0 if every promise held, 1 if one was broken, and 2 if it was called wrongly.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
)

func main() {
	c, err := parse(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(exitUsage)
	}
	c.out = os.Stdout
	os.Args = os.Args[:1] // those of package testing are not ours
	// A bubble of testing/synctest can be had in a test only, so this is one.
	play := testing.InternalTest{Name: "seeds", F: func(t *testing.T) { os.Exit(c.play(t)) }}
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{play}, nil, nil)
}

// What the program returns.
const (
	exitHeld     = 0
	exitViolated = 1
	exitUsage    = 2
)
