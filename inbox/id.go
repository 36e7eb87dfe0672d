package inbox

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// UUID makes the MessageID of a UUID: its 16 bytes, not its text. Use it for messages that
// Postbag delivers. Mark a message by its UUID or by the text of it, but always by the
// same.
func UUID(id postbag.ID) MessageID { return MessageID(id[:]) }

// What an id that Place makes begins with. With the numbers it is longer than a UUID.
const (
	placeText = "\x00place"
	placeHash = "\x00phash" // the source is hashed
	placeHead = len(placeText) + 4 + 8
)

// Place makes a MessageID of where a message lies: a partition and an offset of source,
// such as the cluster and topic of Kafka, or a stream of JetStream. It is for messages
// without an id of their own. Two places never have one id, and none is the id of a
// [UUID]. It begins with a NUL byte, so that no text is equal to it. If source is long, its
// SHA-256 takes its place. Negative numbers are allowed.
//
// A place is a good id only while the log keeps its numbering. If a topic is deleted and
// made again, its offsets begin again: put something into source that changes then.
func Place(source string, partition int32, offset int64) MessageID {
	form := placeText
	if placeHead+len(source) > store.MaxMessageID {
		sum := sha256.Sum256([]byte(source))
		form, source = placeHash, string(sum[:])
	}
	id := make([]byte, 0, placeHead+len(source))
	id = append(id, form...)
	id = binary.BigEndian.AppendUint32(id, uint32(partition))
	id = binary.BigEndian.AppendUint64(id, uint64(offset))
	return MessageID(append(id, source...))
}
