package sqlitestore

import (
	"encoding/binary"
	"fmt"

	"github.com/postbag/postbag/store"
)

// positionFormat is the first byte of a position. What follows is the seq of the
// last row passed, as a varint without padding: rowids are given out under the
// one writer lock, so that a seq says all there is to say, and equal places have
// equal bytes. The beginning is the empty position and no other.
const positionFormat = 1

func positionOf(seq int64) store.Position {
	if seq <= 0 {
		return ""
	}
	var b [1 + binary.MaxVarintLen64]byte
	b[0] = positionFormat
	n := binary.PutUvarint(b[1:], uint64(seq))
	return store.Position(b[:1+n])
}

func seqOf(p store.Position) (int64, error) {
	if p == "" {
		return 0, nil
	}
	if p[0] != positionFormat {
		return 0, fmt.Errorf("sqlitestore: read a position of format %d: %w", p[0], store.ErrPosition)
	}
	seq, n := binary.Uvarint([]byte(p[1:]))
	if n != len(p)-1 || seq == 0 || seq > 1<<63-1 || positionOf(int64(seq)) != p {
		return 0, fmt.Errorf("sqlitestore: read a position of %d bytes: %w", len(p), store.ErrPosition)
	}
	return int64(seq), nil
}
