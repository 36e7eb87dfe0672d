// Package adopt turns the outbox table of another program into a box: it imports
// what is undelivered there, or has the database feed the box while the old code
// still writes, by a trigger or by a view under the table's name.
//
// Three things meet here. An Original knows what a project's table looks like and
// which of its rows are undelivered. A Plan is what an operator wants of one table,
// checked against its columns before anything is written. A Database does it, in
// its own SQL.
//
// Nothing is lost and nothing is there twice, because each step is one transaction
// that moves some rows and notes which: rows are listed in the original's order, and
// a listed row is appended to the box by the transaction that notes it. A trigger or
// a view is made by a transaction that holds writers off, and that imports what is
// left before it lets them go on.
package adopt
