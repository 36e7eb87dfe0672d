// Package migrationtools applies what postbag migrate print writes by other tools:
// goose, and Atlas's own parser, on every store. It has tests only.
package migrationtools
