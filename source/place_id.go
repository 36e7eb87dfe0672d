package source

import (
	"crypto/sha256"
	"encoding/binary"
)

// What an id of a place begins with. The NUL byte keeps it apart from all text, and the
// length from a UUID.
const (
	placeText = "\x00place"
	placeHash = "\x00phash" // names are hashed
	maxPlace  = 255
)

// ID returns bytes that identify the place for ever: 26 to 255 of them. Two places never
// have the same. It is the id of a message that has none of its own.
func (p Place) ID() string {
	form := placeText
	names := append(appendText(nil, p.Source), p.Partition...)
	if len(form)+len(names)+16 > maxPlace {
		sum := sha256.Sum256(names)
		form, names = placeHash, sum[:]
	}
	id := make([]byte, 0, len(form)+16+len(names))
	id = append(id, form...)
	id = binary.BigEndian.AppendUint64(id, p.Offset)
	id = binary.BigEndian.AppendUint64(id, p.Minor)
	return string(append(id, names...))
}

// appendText appends a text so that its end can be told.
func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}
