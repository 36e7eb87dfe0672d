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

	// Headers are added to each message where it lacks them; names are compared
	// as they are written. The map is copied. Defaults to none.
	Headers map[string]string

	// Context is called once a call of Publish, with its context and a map that
	// holds Headers, and may write headers to it, such as those of a trace. A
	// message's own headers win over them. It must be safe for concurrent use
	// and must not keep the map. Defaults to nothing.
	Context func(context.Context, map[string]string)

	// Wrap puts a middleware around publishing: it returns a function that
	// calls next, or does not. The messages it gets have ID, Topic and Headers
	// filled in, and are its own but for the bytes of payloads, which it may
	// replace and must not overwrite. It may change, drop and add messages; one
	// that it adds gets an ID and a topic if it lacks them, and has no headers
	// but its own. Next checks what it is given, and the Index of a
	// MessageError counts there. A call with a message that an Event could not
	// encode fails without it.
	//
	// Wrap is called anew for each Publish, concurrently: state belongs outside
	// of it. Its function runs inside the caller's transaction and returns
	// before Publish does. Defaults to nothing.
	Wrap func(next PublishFunc) PublishFunc

	// MaxSize is the largest payload, in bytes, at most MaxPayload (16 MiB), which
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
	size, bad := headerFaults(o.Headers)
	for _, name := range bad {
		errs = append(errs, fmt.Errorf("postbag: PublisherOptions.Headers[%.64q] %s", name, headerReason(name, o.Headers[name])))
	}
	if size > MaxHeader {
		errs = append(errs, fmt.Errorf("postbag: PublisherOptions.Headers holds %d bytes, %d allowed; have fewer or shorter ones",
			size, MaxHeader))
	}
	return errors.Join(errs...)
}
