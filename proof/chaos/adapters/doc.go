// Package adapters has the stores and brokers of Postbag go through package chaos, and shows how others can.
package adapters
