package source

import "errors"

// Errors of a Source, by class. A source wraps them in errors that say what failed.
var (
	// ErrUnavailable: the broker is away, or refuses for a time. Call again after a pause.
	ErrUnavailable = errors.New("source: the broker is unavailable; try again after a pause")
	// ErrMisconfigured: it fails in the same way until somebody changes settings, here or at
	// the broker: no such topic, no right, a login refused.
	ErrMisconfigured = errors.New("source: the settings are wrong; change them here or at the broker")
	// ErrClosed: the source was closed.
	ErrClosed = errors.New("source: the source is closed; make a new one")
	// ErrBusy: two goroutines fetched at the same time. The second got it.
	ErrBusy = errors.New("source: another Fetch is waiting; fetch from one goroutine")
)

// Errors of a Message that is not whole.
var (
	// ErrTooLarge: the payload is larger than Limits.Payload, or than the source takes. The
	// message has none of it.
	ErrTooLarge = errors.New("source: the payload is larger than the limit; raise it, or ack the message to leave it out")
	// ErrUndecodable: the client could not decode the message. It may stand for several, if
	// they came in one piece that could not be taken apart: its ack is for all of them.
	ErrUndecodable = errors.New("source: the message cannot be decoded; look at who sent it, or ack it to leave it out")
)
