// Package remote asks a console's JSON API for what the command line asks a database for. Its answers are those of package operations,
// and its errors are those of the stores where the console says so in a word.
package remote
