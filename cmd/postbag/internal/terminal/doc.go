// Package terminal writes the output of commands: tables for people, JSON for programs,
// progress on standard error, a question before something that cannot be undone. It makes
// text from a message or a server safe for a terminal, and takes out of errors what looks
// like a secret.
package terminal
