// Package once is the receiving side over database/sql: it changes an account and records
// the message's id in one transaction, so that a message that comes twice counts once.
package once
