package redisbroker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
)

// Fields of an entry.
const (
	fieldPayload     = "payload"
	fieldContentType = "content-type"
	fieldTopic       = "Postbag-Topic"
	// prefixFact begins the names of a message's facts.
	prefixFact = "Postbag-"
	// prefixHeader stands before the name of a header that would be taken for
	// something else, or that has it already.
	prefixHeader = "header:"
)

// addition is one message on its way: the command that adds it, and what is known of
// how far that got.
type addition struct {
	command
	index  int // in the call
	stream string
	id     string   // asked for; empty: the server's
	fields []string // names and values in turn; the payload's value is left out
	body   body
	large  int // the largest part, in bytes
	again  bool
}

// command is a command that no client repeats: what it added may be there.
type command struct {
	*redis.StringCmd
}

// NoRetry implements redis.Cmder.
func (command) NoRetry() bool { return true }

// body is a payload that knows whether it was written to a connection. The client
// asks a command's parts for their bytes when it writes them, and not before.
type body struct {
	bytes []byte
	state atomic.Uint32
}

// The states of a body.
const (
	unwritten uint32 = iota
	written          // to a buffer at least, and from there to who knows where
	abandoned        // never to be written
)

var errAbandoned = errors.New("redisbroker: the call has ended; nothing more of it is sent")

// MarshalBinary implements encoding.BinaryMarshaler. An error breaks the connection
// off in the middle of the command, which the server then ignores.
func (b *body) MarshalBinary() ([]byte, error) {
	if b.state.CompareAndSwap(unwritten, written) || b.state.Load() == written {
		return b.bytes, nil
	}
	return nil, errAbandoned
}

// String keeps payloads out of what hooks of the client print.
func (b *body) String() string { return "(payload)" }

// abandon sees to it that the payload will not be written. It says false if it was.
func (b *body) abandon() bool {
	return b.state.CompareAndSwap(unwritten, abandoned) || b.state.Load() == abandoned
}

func (b *body) isWritten() bool { return b.state.Load() == written }

// fill makes the entry of m.
func (e *addition) fill(ctx context.Context, o *Options, m *broker.Delivery) *broker.Error {
	var f *broker.Error
	if e.stream, f = o.stream(m); f != nil {
		return f
	}
	e.body.bytes, e.again = m.Payload, m.Attempt > 1
	if m.Wire != nil {
		f = e.addWire(m.Wire)
	} else {
		e.addPlain(m)
	}
	if f != nil {
		return f
	}
	if o.Fence {
		if e.id, f = fenceID(o.Epoch, m); f != nil {
			return f
		}
	}
	e.large = max(len(e.stream), len(m.Payload))
	for _, text := range e.fields {
		e.large = max(e.large, len(text))
	}
	e.StringCmd = redis.NewStringCmd(ctx, e.args(o)...)
	return nil
}

// addPlain puts m's facts and headers in.
func (e *addition) addPlain(m *broker.Delivery) {
	e.fields = make([]string, 0, 10+2*len(m.Headers))
	e.add(broker.HeaderID, m.ID.String())
	e.add(fieldTopic, m.Topic)
	if m.Key != "" {
		e.add(broker.HeaderKey, m.Key)
	}
	if m.Type != "" {
		e.add(broker.HeaderType, m.Type)
	}
	if !m.At.IsZero() {
		e.add(broker.HeaderTime, broker.FormatTime(m.At))
	}
	for _, name := range sortedNames(m.Headers) {
		if broker.IsProperty(name) {
			continue
		}
		field := name
		if name == fieldPayload || broker.IsFact(name) || strings.HasPrefix(name, prefixHeader) {
			field = prefixHeader + name
		}
		e.add(field, m.Headers[name])
	}
}

// addWire puts in what an encoder made, as it is.
func (e *addition) addWire(w *broker.Wire) *broker.Error {
	e.fields = make([]string, 0, 2+2*len(w.Headers))
	if w.ContentType != "" {
		e.add(fieldContentType, w.ContentType)
	}
	for _, name := range sortedNames(w.Headers) {
		if name == fieldPayload || name == fieldContentType && w.ContentType != "" {
			return adapter.Failure(broker.Rejected, "the encoder made a header that is the entry's field for payload or content type",
				"have it use another name")
		}
		e.add(name, w.Headers[name])
	}
	return nil
}

func (e *addition) add(name, value string) { e.fields = append(e.fields, name, value) }

// sortedNames puts the fields of entries alike in one order, in which a stream
// stores their names once.
func sortedNames(headers map[string]string) []string {
	if len(headers) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(headers))
}

// args are those of XADD (redis.io/commands/xadd). The stream's name is a string,
// for the client looks for it to find the node; the others are pointers, which cost
// no memory of their own.
func (e *addition) args(o *Options) []any {
	args := make([]any, 0, 9+len(e.fields))
	args = append(args, "xadd", e.stream)
	if o.Existing {
		args = append(args, "nomkstream")
	}
	switch {
	case o.MaxLen > 0:
		args = append(args, "maxlen", slack(o), o.MaxLen)
	case o.MaxAge > 0:
		args = append(args, "minid", slack(o), strconv.FormatInt(time.Now().Add(-o.MaxAge).UnixMilli(), 10))
	}
	if e.id == "" {
		args = append(args, "*")
	} else {
		args = append(args, &e.id)
	}
	for i := range e.fields {
		args = append(args, &e.fields[i])
	}
	return append(args, fieldPayload, &e.body)
}

func slack(o *Options) string {
	if o.ExactTrim {
		return "="
	}
	return "~"
}
