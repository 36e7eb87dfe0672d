package format

import "github.com/postbag/postbag/broker"

// Func is a function that encodes, by the rules of broker.Encoder.
type Func func(m *broker.Delivery, binding string) error

// Encode calls f.
func (f Func) Encode(m *broker.Delivery, binding string) error { return f(m, binding) }
