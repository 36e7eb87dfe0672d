// Package examples has programs that you can copy from: one for each kind of transaction,
// producers in other languages, and consumers that apply each message once. Its tests run each of them on a real PostgreSQL. They
// check that what a program commits is delivered, and what it rolls back is not.
package examples
