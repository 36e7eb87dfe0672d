// Command bench measures Postbag beside raw references that are written here, on
// servers of its own, in interleaved rounds:
//
//	make bench        # ten minutes
//	make bench-full   # with the large backlog and the long holds
//	go run . -run drain -rounds 5
//	go run . -full -run 15-console-pg -data DIR   # the console over 50 million messages, kept in DIR
//
// A result is a ratio to a reference measured in the same run, never an absolute
// figure: machines are noisy and differ. Each scenario prints its medians, the
// ratio, the CPU time a message of server and client, and a verdict beside the
// goal, and all of it is written to results/ as JSON and SVG.
package main
