package sqlitestore

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/postbag/postbag/store"
)

// place is what a position says: the last row passed. Rowids are given out under
// the one writer lock, so that its seq says how far a subscription is; equal places
// have equal bytes.
type place struct {
	seq int64
	// mark is that of the row's id, see markOf: a log that was emptied and numbered
	// again has another row there. Zero: not known.
	mark uint32
}

// The first byte of a position. What follows is the seq as a varint without
// padding, and in marked positions the four bytes of the mark. The beginning is the
// empty position and no other.
const (
	plainFormat  = 1
	markedFormat = 2
)

// markBytes is how many bytes of a position are its mark.
const markBytes = 4

// markOf returns the mark of a row with this id, never zero.
func markOf(id []byte) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(id)
	return max(h.Sum32(), 1)
}

func (p place) encode() store.Position {
	if p.seq <= 0 {
		return ""
	}
	b := make([]byte, 0, 1+binary.MaxVarintLen64+markBytes)
	if p.mark == 0 {
		return store.Position(binary.AppendUvarint(append(b, plainFormat), uint64(p.seq)))
	}
	b = binary.AppendUvarint(append(b, markedFormat), uint64(p.seq))
	return store.Position(binary.BigEndian.AppendUint32(b, p.mark))
}

func placeOf(text store.Position) (place, error) {
	var p place
	if text == "" {
		return p, nil
	}
	if text[0] != plainFormat && text[0] != markedFormat {
		return p, fmt.Errorf("sqlitestore: read a position of format %d: %w", text[0], store.ErrPosition)
	}
	rest := []byte(text[1:])
	seq, n := binary.Uvarint(rest)
	if n > 0 && seq <= 1<<63-1 {
		p.seq = int64(seq)
		if rest = rest[n:]; text[0] == markedFormat && len(rest) == markBytes {
			p.mark = binary.BigEndian.Uint32(rest)
		}
	}
	if p.encode() != text {
		return place{}, fmt.Errorf("sqlitestore: read a position of %d bytes: %w", len(text), store.ErrPosition)
	}
	return p, nil
}
