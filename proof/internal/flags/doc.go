// Package flags reads the arguments of this module's commands. Its errors say in one line what is wrong with them.
package flags
