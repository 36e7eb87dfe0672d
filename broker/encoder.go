package broker

// Encoder turns a message into what goes on the wire. It is safe for concurrent
// use.
type Encoder interface {
	// Encode turns m into what a destination sends whose Features.Binding is binding. It
	// may set Topic, Key and Payload, and sets Wire. m is the encoder's own copy, but its
	// payload and headers are shared: replace them, never change them. Its headers hold no
	// property (IsProperty).
	//
	// The same message gives the same bytes each time, whatever its Attempt. The new key
	// depends only on the message's key, and different keys stay different: the relay
	// keeps the order of the message's own keys, the destination that of the encoder's.
	//
	// An error makes the message Rejected, unless it wraps an *Error whose outcome is
	// Misconfigured or Unavailable. It quotes no payload, key, header value or
	// credential.
	Encode(m *Delivery, binding string) error
}
