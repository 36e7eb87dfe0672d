package postbag

import (
	"context"
	"errors"
	"fmt"
)

// defaultMaxSize is PublisherOptions.MaxSize when it is left out, in bytes.
const defaultMaxSize = 1 << 20

// PublisherOptions says how a Publisher publishes. The zero value is complete.
type PublisherOptions struct {
	// Box is the box to write to; the store must have it. See ValidBox.
	// Defaults to "outbox".
	Box string

	// Headers are added to each message that does not have them. Names are compared as
	// they are written. The map is copied. Defaults to none.
	Headers map[string]string

	// Context is called once per call of Publish, with its context and a map that holds
	// Headers. It may write headers to the map, such as those of a trace. A message's own
	// headers take precedence. It must be safe for concurrent use, and must not keep the
	// map. Defaults to nothing.
	Context func(context.Context, map[string]string)

	// Wrap puts a middleware around publishing. It returns a function that calls next, or
	// does not. That function gets messages with ID, Topic and Headers filled in. It may
	// change, drop and add messages. It may replace a payload, but must not overwrite its
	// bytes. A message that it adds gets an ID and a topic if it lacks them, and has only
	// its own headers.
	//
	// Next checks the messages that it gets, and the Index of a MessageError counts
	// those. If an Event could not encode a message, Publish fails without calling the
	// function.
	//
	// Wrap is called for each Publish, concurrently, so keep state outside of it. Its
	// function runs inside your transaction, and returns before Publish does. JoinWraps
	// joins several, and WrapEach makes one of a function for single messages. Defaults to
	// nothing.
	Wrap func(next PublishFunc) PublishFunc

	// ShardKey computes Message.ShardKey of each message that has a Key and no ShardKey, from
	// the Key alone: so one Key always has the same. It is how you choose where keys go: with
	// a box whose slots are made by number, return the number. "" leaves the message as it is. It is called
	// behind Wrap, before anything is written. An error fails Publish, as a MessageError whose
	// Err it is; its text becomes part of that, so it quotes no key. It must be safe for
	// concurrent use. All publishers of a box must have the same, in every language. Defaults
	// to nothing.
	ShardKey func(key string) (string, error)

	// Check says what is wrong with a message that is complete: ID, Topic and Headers are
	// filled in. It is called behind Wrap, for each message that keeps all other rules,
	// before anything is written. An error fails Publish, as a MessageError whose Err it is.
	// Its text becomes part of that, so it quotes no payload, key or header value. It must
	// not change what the message points to, and must be safe for concurrent use.
	// Destinations have functions for it, such as rabbitbroker.CheckHeaders. Defaults to
	// nothing.
	Check func(*Message) error

	// MaxSize is the largest payload, in bytes. It is at most MaxPayload (16 MiB), which
	// every box takes. The destination has limits of its own. Defaults to 1 MiB.
	MaxSize int

	// ValidateJSON refuses payloads that are not JSON in UTF-8. Defaults to
	// false: a payload is any bytes.
	ValidateJSON bool
}

// withDefaults returns o with the documented defaults, and maps of its own.
func (o PublisherOptions) withDefaults() PublisherOptions {
	if o.Box == "" {
		o.Box = "outbox"
	}
	if o.MaxSize == 0 {
		o.MaxSize = defaultMaxSize
	}
	o.Headers = cloneHeaders(o.Headers)
	return o
}

// validate returns all that is wrong with o, its defaults filled in.
func (o PublisherOptions) validate() error {
	var errs []error
	if err := ValidBox(o.Box); err != nil {
		errs = append(errs, fmt.Errorf("postbag: PublisherOptions.Box: %w", err))
	}
	if o.MaxSize < 0 || o.MaxSize > MaxPayload {
		errs = append(errs, fmt.Errorf("postbag: PublisherOptions.MaxSize is %d; give bytes up to %d, or zero for %d",
			o.MaxSize, MaxPayload, defaultMaxSize))
	}
	errs = append(errs, headerErrors("PublisherOptions.Headers", o.Headers))
	return errors.Join(errs...)
}
