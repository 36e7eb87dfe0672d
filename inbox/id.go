package inbox

import (
	"strconv"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/source"
)

// UUID makes the MessageID of a UUID: its 16 bytes, not its text. Use it for messages that
// Postbag delivers. Mark a message by its UUID or by the text of it, but always by the
// same.
func UUID(id postbag.ID) MessageID { return MessageID(id[:]) }

// Place makes a MessageID of where a message lies: a partition and an offset of the log with
// this name, such as the cluster and topic of Kafka, or a stream of JetStream. It is for
// messages without an id of their own. Two places never have one id, and none is the id of a
// [UUID]. It begins with a NUL byte, so that no text is equal to it. If the name is long, a
// SHA-256 takes its place. Negative numbers are allowed. It is the ID of the source.Place with
// this name and offset, and the partition in decimal, so a [Receiver] finds the same marks.
//
// A place is a good id only while the log keeps its numbering. If a topic is deleted and
// made again, its offsets begin again: put something into the name that changes then.
func Place(name string, partition int32, offset int64) MessageID {
	place := source.Place{Source: name, Partition: strconv.Itoa(int(partition)), Offset: uint64(offset)}
	return MessageID(place.ID())
}
