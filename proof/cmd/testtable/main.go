// Testtable reads what "go test -json" prints: it shows progress and failures while tests run, and at the end one table
// over all modules. "make test" uses it.
//
//	go test -json ./... | tee LOGS/MODULE.json | testtable watch
//	testtable table LOGS
//
// The folder LOGS holds a MODULE.json for each module, with "/" in its path written as "+", and checks.tsv, a line for each
// check that is not a test: module, check, "ok" or "failed", seconds.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	err := run(os.Args[1:], os.Stdin, os.Stdout)
	if errors.Is(err, errFailed) {
		os.Exit(1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testtable:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "watch":
		return watch(in, out)
	case len(args) == 2 && args[0] == "table":
		return table(os.DirFS(args[1]), out)
	default:
		return errors.New("it was called wrongly: say \"testtable watch\" or \"testtable table FOLDER\"")
	}
}
