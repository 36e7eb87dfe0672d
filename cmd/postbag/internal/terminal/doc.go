// Package terminal is how commands speak: tables for people, JSON for programs,
// progress on standard error, a question before something that cannot be undone.
// Text that comes out of a message or a server is made safe for a terminal, and
// what looks like a secret is taken out of errors.
package terminal
