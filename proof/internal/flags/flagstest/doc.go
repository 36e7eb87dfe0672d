// Package flagstest tries the flags of a command of this module: calls that are wrong, and help. It is for tests only.
package flagstest
