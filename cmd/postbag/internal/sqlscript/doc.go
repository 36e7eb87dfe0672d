// Package sqlscript takes the SQL that the stores print apart into statements, and
// writes it in the forms that migration tools read.
package sqlscript
