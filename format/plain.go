package format

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/httpfield"
)

// Plain leaves payload, topic and key as they are. It sends id, key, type and time as
// headers, under names that you choose, and the message's own headers beside them. HTTP
// and NATS have ASCII headers: values and the names of own headers are percent-encoded
// there (broker.Escape). If one of the message's own headers has one of the chosen names,
// it is left out. Its Content-Type becomes the transport's.
//
// Without an encoder a destination sends the same under the default names. Use Plain if
// you need other names or the reserved headers.
type Plain struct {
	// Names are the header names for id, key, type, time and so on.
	Names Names
	// Reserved adds the headers that sbmt-outbox sends: Outbox-Name (the box),
	// Idempotency-Key (the message's id), Sequence-ID (its seq), Created-At (when it
	// was stored, RFC 3339 with microseconds).
	Reserved bool
	// DispatchedAt adds Dispatched-At, the time of this attempt by this machine's clock.
	// A repeated message is then no longer the same byte for byte.
	DispatchedAt bool
	// ContentType is that of a message without a header Content-Type. Defaults to none,
	// or to the destination's own.
	ContentType string

	now func() time.Time // replaced in tests
}

// Names are header names for what Postbag knows of a message. "-" leaves one out. Empty
// values are left out too. Each name is letters, digits and the marks that HTTP allows in
// a name.
type Names struct {
	ID   string // Defaults to Postbag-Id.
	Key  string // Defaults to Postbag-Key.
	Type string // Defaults to Postbag-Type.
	Time string // Defaults to Postbag-Time.
	// Topic, Seq, Box and Subscription are left out unless named.
	Topic, Seq, Box, Subscription string
}

const (
	headerOutboxName     = "Outbox-Name"
	headerIdempotencyKey = "Idempotency-Key"
	headerSequenceID     = "Sequence-ID"
	headerCreatedAt      = "Created-At"
	headerDispatchedAt   = "Dispatched-At"
)

// KeepsPayload says that a payload stays as it is.
func (Plain) KeepsPayload() bool { return true }

// Validate returns all faults of the options.
func (p Plain) Validate() error {
	var faults []error
	seen := map[string]bool{}
	for _, name := range p.facts() {
		folded := strings.ToLower(name)
		switch {
		case name == "":
		case !httpfield.IsToken(name):
			faults = append(faults, fmt.Errorf("format: the header name %q is not a token; use letters, digits and hyphens", name))
		case httpfield.In(name, "content-type") || httpfield.Framing(name) || httpfield.HasPrefix(name, "nats-", "webhook-"):
			faults = append(faults, fmt.Errorf("format: the header name %q means something to a transport; choose another", name))
		case seen[folded]:
			faults = append(faults, fmt.Errorf("format: the header name %q is given twice; choose another", name))
		}
		seen[folded] = true
	}
	return errors.Join(faults...)
}

// facts are the names of all headers that are no message's own.
func (p Plain) facts() []string {
	n := p.Names.filled()
	names := []string{n.ID, n.Key, n.Type, n.Time, n.Topic, n.Seq, n.Box, n.Subscription}
	if p.Reserved {
		names = append(names, headerOutboxName, headerIdempotencyKey, headerSequenceID, headerCreatedAt)
	}
	if p.DispatchedAt {
		names = append(names, headerDispatchedAt)
	}
	return names
}

// filled returns the names with defaults, empty for what is left out.
func (n Names) filled() Names {
	return Names{
		ID: nameOr(n.ID, broker.HeaderID), Key: nameOr(n.Key, broker.HeaderKey), Type: nameOr(n.Type, broker.HeaderType), Time: nameOr(n.Time, broker.HeaderTime),
		Topic: nameOr(n.Topic, ""), Seq: nameOr(n.Seq, ""), Box: nameOr(n.Box, ""), Subscription: nameOr(n.Subscription, ""),
	}
}

func nameOr(name, otherwise string) string {
	switch name {
	case "":
		return otherwise
	case "-":
		return ""
	}
	return name
}

// Encode implements broker.Encoder.
func (p Plain) Encode(m *broker.Delivery, binding string) error {
	w := &broker.Wire{Headers: make(map[string]string, 9+len(m.Headers))}
	set := func(name, value string) {
		if name != "" && value != "" {
			w.Headers[name] = carried(value, binding)
		}
	}
	names := p.Names.filled()
	id, at := m.ID.String(), ""
	if !m.At.IsZero() {
		at = broker.FormatTime(m.At)
	}
	set(names.ID, id)
	set(names.Key, m.Key)
	set(names.Type, m.Type)
	set(names.Time, at)
	set(names.Topic, m.Topic)
	set(names.Box, m.Box)
	set(names.Subscription, m.Subscription)
	if names.Seq != "" {
		set(names.Seq, strconv.FormatInt(m.Seq, 10))
	}
	if p.Reserved {
		set(headerOutboxName, m.Box)
		set(headerIdempotencyKey, id)
		set(headerSequenceID, strconv.FormatInt(m.Seq, 10))
		set(headerCreatedAt, at)
	}
	if p.DispatchedAt {
		set(headerDispatchedAt, broker.FormatTime(p.clock()))
	}
	w.ContentType = addOwn(w.Headers, m.Headers, binding, p.isFact)
	if w.ContentType == "" {
		w.ContentType = p.ContentType
	}
	m.Wire = w
	return nil
}

// isFact says whether name is a fact's, so that no header of a message's own may
// pass for one, whether the message has that fact or not.
func (p Plain) isFact(name string) bool {
	n := p.Names.filled()
	return name != "" && (httpfield.In(name, n.ID, n.Key, n.Type, n.Time, n.Topic, n.Seq, n.Box, n.Subscription) ||
		p.Reserved && httpfield.In(name, headerOutboxName, headerIdempotencyKey, headerSequenceID, headerCreatedAt) ||
		p.DispatchedAt && httpfield.In(name, headerDispatchedAt))
}

func (p Plain) clock() time.Time {
	if p.now != nil {
		return p.now()
	}
	return time.Now()
}
