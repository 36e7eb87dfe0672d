// Package migrationtools applies the output of postbag migrate print with other tools:
// goose, and Atlas's own parser, on every store. It has tests only.
package migrationtools
