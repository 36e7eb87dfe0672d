// Package config reads what an operator writes: postbag.yaml. It knows the form
// of the file; which kinds of stores and destinations there are, and what each
// takes, it is told (Kinds). Every mistake is found at once and named with its
// line and what to do; none of the messages quotes a value that may hold a secret.
//
// A secret never stands in the file: a setting that ends in _env names an
// environment variable, one that ends in _file a file.
package config
