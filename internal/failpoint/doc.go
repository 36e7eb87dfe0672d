// Package failpoint has named points in the program at which a test of faults can kill, pause or fail it.
//
// The points exist only in programs built with the tag postbag_failpoints. In every other program Hit does nothing and costs nothing.
// With the tag, a program reads what to do from the environment variable POSTBAG_FAILPOINTS, and repeatedly from the file that
// POSTBAG_FAILPOINTS_FILE names. Both hold words such as
//
//	relay/settle/before=kill@3 pgstore/partition/create/after=pause relay/fetch/after=error
//
// The action comes once, at the hit with that number since the words were read (the first by default). kill ends the process as
// kill -9 does. pause stops the caller for POSTBAG_FAILPOINTS_PAUSE (10 s by default). error makes Hit return an error.
package failpoint
