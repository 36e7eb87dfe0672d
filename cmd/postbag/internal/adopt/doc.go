// Package adopt turns the outbox table of another program into a box. It imports the
// undelivered rows of that table. Or it makes the database feed the box while the old
// code still writes, by a trigger or by a view under the table's name.
//
// It has three parts. An Original knows what a project's table looks like, and which of
// its rows are undelivered. A Plan is what an operator wants of one table, checked
// against its columns before anything is written. A Database does it, in its own SQL.
//
// Nothing is lost and nothing is there twice, because each step is one transaction that
// moves some rows and notes which. Rows are listed in the sequence of the original, and
// the transaction that appends a listed row to the box also notes it. The transaction
// that makes a trigger or a view blocks writers. It imports what is left before it lets
// them go on.
package adopt
