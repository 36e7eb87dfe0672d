// Package formats tests the encoders with a reader by other authors. Each event goes over
// a real transport, and the CloudEvents SDK for Go reads it back. It has tests only.
package formats
