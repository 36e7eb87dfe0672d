package kafkabroker

import (
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/broker"
)

// headerContentType is the name that CloudEvents' Kafka binding gives it.
const headerContentType = "content-type"

// records makes the records of one call out of few pieces of memory.
type records struct {
	slab    []kgo.Record
	headers []kgo.RecordHeader
	text    []byte
}

// newRecords makes room for those of msgs.
func newRecords(msgs []broker.Delivery) *records {
	n, size := 0, 0
	for i := range msgs {
		m := &msgs[i]
		if m.Wire != nil {
			n += len(m.Wire.Headers) + 1
			continue
		}
		n += len(m.Headers) + 4
		size += 36 + len(broker.TimeFormat) + len(m.Key) + len(m.Type)
	}
	return &records{slab: make([]kgo.Record, len(msgs)), headers: make([]kgo.RecordHeader, 0, n), text: make([]byte, 0, size)}
}

// build makes record i, of m for a topic.
func (r *records) build(i int, m *broker.Delivery, t *target, now time.Time, sendTime bool) *kgo.Record {
	out := &r.slab[i]
	out.Topic = t.name
	out.Timestamp = now
	if !sendTime {
		out.Timestamp = t.timestamp(m.At, now)
	}
	out.Value = m.Payload
	if out.Value == nil {
		out.Value = []byte{} // nil would be a tombstone
	}
	if m.Key != "" {
		out.Key = []byte(m.Key)
		out.Partition = partitionOf(m.Key, t.partitions)
	}
	if at, named := recordTime(m); named {
		out.Timestamp = at
	}
	if n, named := partition(m); named {
		out.Partition = n
	}
	start := len(r.headers)
	if m.Wire != nil {
		r.wire(out, m.Wire)
	} else {
		r.plain(m)
	}
	out.Headers = r.headers[start:len(r.headers):len(r.headers)]
	return out
}

// wire sets what an encoder made.
func (r *records) wire(out *kgo.Record, w *broker.Wire) {
	if w.Null {
		out.Value = nil
	}
	_, twice := w.Headers[headerContentType]
	if w.ContentType != "" && !twice {
		r.add(headerContentType, []byte(w.ContentType))
	}
	for name, value := range w.Headers {
		r.add(name, []byte(value))
	}
}

// plain sets the facts and the message's own headers.
func (r *records) plain(m *broker.Delivery) {
	r.add(broker.HeaderID, r.fact(func(b []byte) []byte {
		b, _ = m.ID.AppendText(b) // it never fails
		return b
	}))
	if m.Key != "" {
		r.add(broker.HeaderKey, r.fact(func(b []byte) []byte { return append(b, m.Key...) }))
	}
	if m.Type != "" {
		r.add(broker.HeaderType, r.fact(func(b []byte) []byte { return append(b, m.Type...) }))
	}
	if !m.At.IsZero() {
		r.add(broker.HeaderTime, r.fact(func(b []byte) []byte { return m.At.UTC().AppendFormat(b, broker.TimeFormat) }))
	}
	for name, value := range m.Headers {
		if broker.IsProperty(name) {
			continue
		}
		r.add(escapeName(name), []byte(value))
	}
}

// fact writes a value behind the others.
func (r *records) fact(write func(b []byte) []byte) []byte {
	start := len(r.text)
	r.text = write(r.text)
	return r.text[start:len(r.text):len(r.text)]
}

func (r *records) add(name string, value []byte) {
	r.headers = append(r.headers, kgo.RecordHeader{Key: name, Value: value})
}

func escapeName(name string) string {
	if broker.IsFact(name) || strings.HasPrefix(name, "%") {
		return fmt.Sprintf("%%%02X%s", name[0], name[1:])
	}
	return name
}

// unescapeName undoes escapeName.
func unescapeName(name string) string {
	if len(name) > 2 && name[0] == '%' {
		return broker.Unescape(name[:3]) + name[3:]
	}
	return name
}

// batchFrame is the size of a batch without records.
const batchFrame = 61

// recordSize is the size of a record in a batch, at most: what depends on the
// records before it is counted in full.
func recordSize(r *kgo.Record) int {
	const (
		varint = 5  // the longest of 32 bits
		fixed  = 16 // attributes, time delta, offset delta
	)
	size := 4*varint + fixed + len(r.Key) + len(r.Value)
	for i := range r.Headers {
		size += 2*varint + len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return size
}

// singleSize is the size of a batch of this one record, exactly.
func singleSize(r *kgo.Record) int {
	size := 3 + blockSize(r.Key) + blockSize(r.Value) + varintSize(len(r.Headers))
	for i := range r.Headers {
		h := &r.Headers[i]
		size += varintSize(len(h.Key)) + len(h.Key) + blockSize(h.Value)
	}
	return batchFrame + varintSize(size) + size
}

// blockSize is the size of bytes with their length in front; nil has length -1.
func blockSize(b []byte) int {
	if b == nil {
		return 1
	}
	return varintSize(len(b)) + len(b)
}

// varintSize is that of a number in zigzag and base 128, as in Protocol Buffers.
func varintSize(n int) int {
	size := 1
	for n <<= 1; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// unfit says why the topic would never take the record.
func unfit(r *kgo.Record, t *target) *broker.Error {
	if r.Partition >= t.partitions {
		return adapter.Failure(broker.Rejected, fmt.Sprintf("the header %s names a partition that the topic does not have; it has %d, from 0 on", propertyPartition, t.partitions),
			"correct it where the message is published, or add partitions")
	}
	if t.compacted && r.Key == nil {
		return adapter.Failure(broker.Rejected, "the topic is compacted and the message has no key", "give it one, or use another topic")
	}
	if size := singleSize(r); size > t.limit() {
		if t.request > 0 && size+requestFrame > t.request && size <= t.maxBytes {
			return adapter.Failure(broker.Rejected, fmt.Sprintf("the message takes %d bytes with key and headers, a request to the brokers %d", size, t.request),
				"send less, or raise the brokers' socket.request.max.bytes")
		}
		return adapter.Failure(broker.Rejected, fmt.Sprintf("the message takes %d bytes with key and headers, the topic allows %d", size, t.limit()),
			"send less, or raise the topic's max.message.bytes")
	}
	return nil
}
