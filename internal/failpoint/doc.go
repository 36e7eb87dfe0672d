// Package failpoint has named points in the program at which a test of faults can have it die, stand still or fail.
//
// They are there only in programs built with the tag postbag_failpoints; in every other Hit does nothing and costs nothing. Such a
// program reads what to do from the environment variable POSTBAG_FAILPOINTS, and again and again from the file that
// POSTBAG_FAILPOINTS_FILE names. Both hold words such as
//
//	relay/settle/before=kill@3 pgstore/partition/create/after=pause relay/fetch/after=error
//
// The action comes at the hit with that number since the words were read, the first by default, and once: kill ends the process as
// kill -9 does, pause lets the caller stand still for POSTBAG_FAILPOINTS_PAUSE (10 s by default), error has Hit return
// an error.
package failpoint
