// Package sqlscript splits the SQL that the stores print into statements, and writes it
// in the forms that migration tools read.
package sqlscript
