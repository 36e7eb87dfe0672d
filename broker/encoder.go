package broker

// Encoder turns a message into what goes on the wire. It is safe for concurrent
// use.
type Encoder interface {
	// Encode makes of m what a destination whose Features.Binding is binding sends:
	// it may set Topic, Key and Payload, and sets Wire. m is the encoder's own copy,
	// but its payload and headers are shared: they are replaced, never changed.
	//
	// The same message gives the same bytes each time, whatever its Attempt. The
	// key depends on the message's key alone, and keys that differ stay different:
	// the relay keeps the order of the message's own keys, the destination that of
	// the encoder's.
	//
	// An error makes the message Rejected, unless it carries an *Error whose outcome
	// is Misconfigured or Unavailable. It names neither payload, key, header value
	// nor credential.
	Encode(m *Delivery, binding string) error
}
