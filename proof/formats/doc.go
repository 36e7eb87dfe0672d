// Package formats holds the encoders to readers that others wrote: each event goes
// over a real transport and is read back by the CloudEvents SDK for Go. It has
// tests only.
package formats
