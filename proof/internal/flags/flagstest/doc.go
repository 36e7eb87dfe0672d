// Package flagstest tests the flags of a command of this module, with wrong calls and with help. It is for tests only.
package flagstest
