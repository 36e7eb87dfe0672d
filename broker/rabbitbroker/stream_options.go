package rabbitbroker

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/postbag/postbag/source"
)

// StreamOptions set a source of a stream up. URL, Stream, Consumer and Positions are
// required.
type StreamOptions struct {
	// URL is one URL, or several of one cluster with commas between, tried in turn, as for
	// Dial.
	URL string
	// Login says how the connection is made.
	Login Login

	// Stream is the name of the stream.
	Stream string
	// Consumer is the name of the group, 1 to 100 bytes. Its members share one position,
	// and one of them at a time gets the messages. The others stand by.
	Consumer string
	// Positions keeps the position, under the names of virtual host, stream and consumer.
	// All members of the group keep it in one place, as that of inbox.NewPositions.
	Positions source.Positions
	// Life distinguishes one life of the stream from the next, with at most 100 bytes. Each life
	// has a position of its own, and other places of messages. Give a new word if somebody
	// deleted the stream and made it again. Defaults to none.
	Life string
	// Topology is declared at each connection, before anything is taken. Defaults to
	// nothing: the stream is somebody else's, and must exist.
	Topology Topology

	// Begin is where a group begins that has no position yet. Defaults to BeginFirst.
	Begin Begin
	// From, in place of Begin, has such a group begin with the messages that the server stored
	// at this time or later. The server knows times of whole chunks, in seconds: somewhat
	// older messages come too. Zero: Begin counts.
	From time.Time
	// Reset, unless nil, lets the source go on where the stream's retention removed messages
	// before they were acked: at the first that there is. It is called from a goroutine of
	// the source. Do not call the source from it. Nil: Fetch says ErrMisconfigured.
	Reset func(r Reset)

	// Prefetch is how many messages are read ahead of Fetch. So it bounds the memory,
	// together with the size of messages. At most 65,535. Defaults to 1,000.
	Prefetch int
}

// Begin says where a group begins in a stream.
type Begin int

const (
	// BeginFirst: with the first message that there is.
	BeginFirst Begin = iota
	// BeginNext: with what is stored after the group was first opened. If it stops before
	// its first message, that time counts, by the clock of this machine.
	BeginNext
)

// Reset tells of messages that a stream's retention removed before they were acked.
type Reset struct {
	// Stream is the stream's name.
	Stream string
	// From is the offset of the first message that was not acked, To that of the first
	// that there is. What was between is gone.
	From, To uint64
}

const maxConsumer = 100

// Validate returns every fault of the options, joined, or nil.
func (o StreamOptions) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("rabbitbroker: StreamOptions."+format, args...))
	}
	if err := ValidURLs(o.URL); err != nil {
		faults = append(faults, err)
	}
	if o.Stream == "" || len(o.Stream) > maxShort {
		fault("Stream has %d bytes; name a stream, with 1 to %d", len(o.Stream), maxShort)
	}
	if o.Consumer == "" || len(o.Consumer) > maxConsumer {
		fault("Consumer has %d bytes; name the group, with 1 to %d", len(o.Consumer), maxConsumer)
	}
	if len(o.Life) > maxConsumer {
		fault("Life has %d bytes; use at most %d", len(o.Life), maxConsumer)
	}
	if v := reflect.ValueOf(o.Positions); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		fault("Positions is nil; a stream keeps no position: give one, such as that of inbox.NewPositions")
	}
	switch {
	case o.Begin != BeginFirst && o.Begin != BeginNext:
		fault("Begin is %d; use BeginFirst or BeginNext", int(o.Begin))
	case o.Begin != BeginFirst && !o.From.IsZero():
		fault("From and StreamOptions.Begin are both set; leave one of them out")
	case !o.From.IsZero() && o.From.Unix() < 0:
		fault("From is before 1970; leave it out to begin with the first message")
	}
	if o.Prefetch < 0 || o.Prefetch > maxPrefetch {
		fault("Prefetch is %d; use 1 to %d, or zero for %d", o.Prefetch, maxPrefetch, defaultPrefetch)
	}
	for _, q := range o.Topology.Queues {
		if q.Name == o.Stream && q.Type != "stream" {
			fault("Stream %.64q is no stream in StreamOptions.Topology; give it the type stream, or take from a queue with OpenSource", o.Stream)
		}
	}
	return errors.Join(append(append(faults, o.Topology.validate("StreamOptions")...), o.Login.validate("StreamOptions")...)...)
}

// withDefaults fills what is zero.
func (o StreamOptions) withDefaults() StreamOptions {
	if o.Prefetch == 0 {
		o.Prefetch = defaultPrefetch
	}
	o.Login = o.Login.withDefaults()
	return o
}
