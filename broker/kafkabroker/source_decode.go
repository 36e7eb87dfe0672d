package kafkabroker

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/postbag/postbag/source"
)

// partitionName names a partition in messages and losses. No topic has a slash in its name.
func partitionName(topic string, number int32) source.Partition {
	return source.Partition(topic + "/" + strconv.Itoa(int(number)))
}

// logName is what Place.Source is: the topic's name and its id, which is another one when
// the topic was deleted and made again. Brokers before Kafka 3.1 tell no id.
func logName(topic string, id [16]byte) string {
	if id == [16]byte{} {
		return topic
	}
	return topic + ":" + base64.RawURLEncoding.EncodeToString(id[:])
}

// decode makes a message of a record. The payload is a copy: a record's is a piece of its
// whole batch, which one message at work would keep in memory.
func decode(r *kgo.Record, log string) source.Message {
	m := source.Message{
		Topic: r.Topic, Key: string(r.Key), Time: r.Timestamp, Partition: partitionName(r.Topic, r.Partition),
		Place: source.Place{Source: log, Partition: strconv.Itoa(int(r.Partition)), Offset: uint64(r.Offset)},
	}
	if isStandIn(r) {
		m.Err = fmt.Errorf("kafkabroker: the batch that begins at offset %d of %s cannot be decompressed: %w", r.Offset, m.Partition, source.ErrUndecodable)
		return m
	}
	m.Payload, m.Null = bytes.Clone(r.Value), r.Value == nil
	if len(r.Headers) > 0 {
		m.Headers = make(source.Headers, len(r.Headers))
		for i, h := range r.Headers {
			m.Headers[i] = source.Header{Name: h.Key, Value: string(h.Value)}
		}
	}
	return m
}

// recordBytes is about what a record takes in memory.
func recordBytes(r *kgo.Record) int {
	const overhead = 200
	size := overhead + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		size += len(h.Key) + len(h.Value)
	}
	return size
}

// tolerant decompresses batches. The client library stops for ever at one that cannot be
// decompressed. In its place tolerant puts records that stand in for it: the first becomes
// a message with ErrUndecodable, at the batch's first offset. The others have the same
// offset, so that the library drops them. It reads as many as the batch says it has, and
// goes on behind it.
type tolerant struct{ kgo.Decompressor }

// Decompress implements kgo.Decompressor.
func (t tolerant) Decompress(src []byte, codec kgo.CompressionCodecType) ([]byte, error) {
	out, err := t.Decompressor.Decompress(src, codec)
	if err == nil && len(out) > 0 {
		return out, nil
	}
	if err == nil {
		err = errors.New("kafkabroker: the batch is empty")
	}
	if errors.Is(err, kgo.ErrMaxDecompress) {
		return nil, err
	}
	return standIns(), nil
}

// maxStandIns is how many records a batch may have that cannot be decompressed.
const maxStandIns = 1 << 20

// standInName is that of a header that no sender knows.
var standInName = rand.Text()

// standIns are records in Kafka's form, of which the first has the header.
var standIns = sync.OnceValue(func() []byte {
	record := func(headers ...byte) []byte {
		// attributes, timestamp delta, offset delta, a null key, a null value
		body := append([]byte{0, 0, 0, 1, 1}, headers...)
		return append(binary.AppendVarint(nil, int64(len(body))), body...)
	}
	header := binary.AppendVarint([]byte{2}, int64(len(standInName))) // one header
	header = append(append(header, standInName...), 1)                // of a null value
	return append(record(header...), bytes.Repeat(record(0), maxStandIns)...)
})

func isStandIn(r *kgo.Record) bool {
	return len(r.Headers) == 1 && r.Headers[0].Key == standInName
}
