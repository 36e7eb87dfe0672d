package watermillbroker

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Defaults of SourceOptions.
const (
	defaultMessages   = 1000
	defaultBytes      = 64 << 20
	defaultAcksWithin = 5 * time.Second
)

// SourceOptions set a Source up. Only Topics are required.
type SourceOptions struct {
	// Topics are those to subscribe to, each once.
	Topics []string
	// Messages is how many messages are in hand at most: waiting for a Fetch, at work, or
	// released for later. Each topic may add one. Defaults to 1,000.
	Messages int
	// Bytes is how many bytes their payloads, metadata and UUIDs have together at most. Each
	// topic may go over it by one message. Defaults to 64 MiB.
	Bytes int64
	// KeyMetadata names the metadata entry that is the key of a message. The entry stays among
	// the headers. Defaults to none: an inbox finds Postbag-Key by itself.
	KeyMetadata string
	// Binding is the protocol behind the subscriber, such as broker.BindingAMQP, for decoders
	// that find headers by it. Defaults to none.
	Binding string
	// AckWait says how long the subscriber waits for an ack before it gives the message out
	// again, if it does so at all. It only tells that to callers, by Features. Defaults to
	// zero: it waits for as long as it is subscribed.
	AckWait time.Duration
	// AcksWithin is how long Close waits until the subscriber has heard the acks. It sees
	// that in the context of a message, which ends then. Defaults to 5 s.
	AcksWithin time.Duration
	// CloseSubscriber makes the subscriber the source's own: Close closes it too, and so does
	// an OpenSource that fails. Defaults to off: it stays open.
	CloseSubscriber bool
	// OnFault is called for each message of the subscriber that is nil. It must return soon,
	// and be safe for concurrent use. Optional.
	OnFault func(error)
}

// Validate returns every fault of the options, joined, or nil. OpenSource does the same
// first.
func (o SourceOptions) Validate() error {
	var faults []error
	fault := func(text string, args ...any) {
		faults = append(faults, fmt.Errorf("watermillbroker: SourceOptions."+text, args...))
	}
	if len(o.Topics) == 0 {
		fault("Topics is empty; name the topics to subscribe to")
	}
	for i, topic := range o.Topics {
		switch {
		case topic == "":
			fault("Topics[%d] is empty; name a topic, or leave it out", i)
		case slices.Contains(o.Topics[:i], topic):
			fault("Topics has %q twice; name it once", topic)
		}
	}
	for _, number := range []struct {
		name  string
		value int64
	}{{"Messages", int64(o.Messages)}, {"Bytes", o.Bytes}, {"AckWait", int64(o.AckWait)}, {"AcksWithin", int64(o.AcksWithin)}} {
		if number.value < 0 {
			fault("%s is negative; leave it zero for the default", number.name)
		}
	}
	return errors.Join(faults...)
}

func (o SourceOptions) withDefaults() SourceOptions {
	o.Topics = slices.Clone(o.Topics)
	o.Messages = cmp.Or(o.Messages, defaultMessages)
	o.Bytes = cmp.Or(o.Bytes, defaultBytes)
	o.AcksWithin = cmp.Or(o.AcksWithin, defaultAcksWithin)
	if o.OnFault == nil {
		o.OnFault = func(error) {}
	}
	return o
}
