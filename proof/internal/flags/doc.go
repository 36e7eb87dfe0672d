// Package flags reads the arguments of the commands of this module, and says in a line what is wrong with them.
package flags
