package sourcekit

import (
	"cmp"
	"fmt"

	"github.com/postbag/postbag/source"
)

// Defaults of a batch, where source.Limits leaves them to the source.
const (
	DefaultMessages = 500
	DefaultBytes    = 4 << 20
)

// Filler fills one batch within its limits. Make it with NewFiller. It is used by one
// goroutine.
type Filler struct {
	limits   source.Limits
	messages int
	bytes    int
}

// NewFiller begins a batch. Limits that are zero or less become DefaultMessages and
// DefaultBytes, and no limit of the payload.
func NewFiller(limits source.Limits) *Filler {
	return &Filler{limits: source.Limits{
		Messages: cmp.Or(max(limits.Messages, 0), DefaultMessages),
		Bytes:    cmp.Or(max(limits.Bytes, 0), DefaultBytes),
		Payload:  max(limits.Payload, 0),
	}}
}

// Full says that the batch takes no message more.
func (f *Filler) Full() bool {
	return f.messages >= f.limits.Messages || f.messages > 0 && f.bytes >= f.limits.Bytes
}

// Add says whether the batch takes m, and counts it. Keep a message that it does not take
// for the next batch. The first is always taken. If the payload of m is larger than
// Limits.Payload, Add takes it away from m and sets its Err.
func (f *Filler) Add(m *source.Message) bool {
	size, tooLarge := m.Size(), f.limits.Payload > 0 && len(m.Payload) > f.limits.Payload
	if tooLarge {
		size -= len(m.Payload)
	}
	if f.Full() || f.messages > 0 && size > f.limits.Bytes-f.bytes {
		return false
	}
	if tooLarge {
		m.Err = fmt.Errorf("%w (%d bytes, %d are allowed)", source.ErrTooLarge, len(m.Payload), f.limits.Payload)
		m.Payload = nil
	}
	f.messages++
	f.bytes += size
	return true
}
