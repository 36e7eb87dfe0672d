package store

import "context"

// Noter is implemented by a store whose audit log takes lines about what changes nothing in the store, such as that somebody
// looked at a payload.
type Noter interface {
	// Note writes a line to the audit log: who and why, and what was done. It returns when the line is committed, so that what
	// the line tells of can be done then. It changes nothing else, and relays do not hear of it. It needs the right to insert
	// into the audit log, and no other right to write. A line without who, why or what is an error, and nothing is written.
	Note(ctx context.Context, a Audit, what string) error
}
