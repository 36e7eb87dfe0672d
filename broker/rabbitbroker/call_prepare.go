package rabbitbroker

import (
	"fmt"

	"github.com/postbag/postbag/broker"
)

// prepare says where m goes, and what keeps it from going there at all. What the
// client library or the server would end a whole channel or connection for is
// found here.
func (d *Destination) prepare(m *broker.Delivery, it *item) *broker.Error {
	if f := d.address(m, it); f != nil {
		return f
	}
	if f := tooLong(it.exchange, it.key); f != nil {
		return f
	}
	if f := badWire(m.Wire); f != nil {
		return f
	}
	if f := adapter.CheckProperties(properties, m.Headers); f != nil {
		return f
	}
	size, longest := headerSize(m, it.id)
	if longest > maxShort {
		return adapter.Failure(broker.Rejected, fmt.Sprintf("a header's name has %d bytes as sent, AMQP allows %d", longest, maxShort), "use a shorter one")
	}
	if limit := int(d.link.frameMax.Load()); size > limit {
		return adapter.Failure(broker.Rejected, fmt.Sprintf("headers and properties take %d bytes, one frame of the server holds %d", size, limit),
			"send less in headers, or raise frame_max of the server")
	}
	limit := d.options.MaxBytes
	if limit == 0 && m.Attempt <= 1 { // somebody may have raised the limit that the server spoke of
		limit = d.link.known.sizeLimit()
	}
	return tooLarge(it.size, limit)
}

// address says where m goes.
func (d *Destination) address(m *broker.Delivery, it *item) (f *broker.Error) {
	it.id, it.size = m.ID.String(), len(m.Payload)
	it.exchange, it.key, f = d.router.of(m)
	return f
}

// badWire says why AMQP cannot carry what an encoder made as it is, nil when it
// can.
func badWire(w *broker.Wire) *broker.Error {
	if w == nil {
		return nil
	}
	if len(w.ContentType) > maxShort {
		return adapter.Failure(broker.Rejected, fmt.Sprintf("the encoder's content type has %d bytes, AMQP allows %d", len(w.ContentType), maxShort),
			"use a shorter one")
	}
	for name := range w.Headers {
		if obeyed(name) && name[0] != 'P' && name[0] != '%' {
			return adapter.Failure(broker.Rejected, "the encoder made a header that the server would obey",
				"leave out CC, BCC and the server's own x- headers")
		}
	}
	return nil
}

// tooLarge says that a payload cannot be carried; limit is zero for none known.
func tooLarge(size, limit int) *broker.Error {
	if limit == 0 || size <= limit {
		return nil
	}
	return adapter.Failure(broker.Rejected, fmt.Sprintf("the payload has %d bytes, %d are allowed", size, limit),
		"send less, or raise max_message_size of the server and Options.MaxBytes")
}
