// Package config reads postbag.yaml, which an operator writes. It knows the form of the
// file. Its caller tells it which kinds of stores and destinations there are, and what
// each takes (Kinds). It reports all mistakes at once, each with its line and what to do.
// No message quotes a value that may hold a secret.
//
// The file never holds a secret: a setting that ends in _env names an environment
// variable, one that ends in _file names a file.
package config
