// Postbag-history judges the history of a run by the files that its recorders wrote (package proof/history).
//
//	postbag-history check [flags] FILE...   print a verdict for each promise; -json for programs
//	postbag-history show FILE...            print the records, a line of JSON each
//
// It ends with 0 if all promises were held, with 1 if one was broken, and with 2 if it could not judge: for a wrong flag, or a
// file that cannot be read.
package main

import (
	"fmt"
	"os"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}
