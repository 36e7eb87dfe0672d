// Package examples holds programs that users may copy from: one a kind of
// transaction, and producers in other languages. Its tests run each of them on a
// real PostgreSQL and check that what they commit is delivered, and what they roll
// back is not.
package examples
