package storekit

import (
	"encoding/binary"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// The first byte of a part says how the messages in it are packed.
const (
	packedSeqs = 1 // of each the distance to the seq before, as a varint, and a sum of its id
	packedIDs  = 2 // of each the whole id
)

// idSum is how many bytes of an id stay beside a seq: enough to notice that the seq is another message.
const idSum = 4

// sumOf is what stays of an id. All bytes count: ids of version 1 have the same end on one machine.
func sumOf(id postbag.ID) (sum [idSum]byte) {
	for i, b := range id {
		sum[i%idSum] ^= b
	}
	return sum
}

// packMessages returns messages as a part of an operation keeps them.
func packMessages(scheduled bool, of []store.OperationMessage) []byte {
	if scheduled {
		out := make([]byte, 1, 1+len(of)*len(postbag.ID{}))
		out[0] = packedIDs
		for i := range of {
			out = append(out, of[i].ID[:]...)
		}
		return out
	}
	out := []byte{packedSeqs}
	last := int64(0)
	for i := range of {
		out = binary.AppendVarint(out, of[i].Seq-last)
		sum := sumOf(of[i].ID)
		out = append(out, sum[:]...)
		last = of[i].Seq
	}
	return out
}

// UnpackMessages reads what AddToOperation returned. Of messages of the log, only a sum of the id is there: see
// [SameMessage].
func UnpackMessages(part []byte) ([]store.OperationMessage, error) {
	if len(part) == 0 {
		return nil, store.ErrOperationDamaged
	}
	switch kind, rest := part[0], part[1:]; kind {
	case packedIDs:
		return unpackIDs(rest)
	case packedSeqs:
		return unpackSeqs(rest)
	default:
		return nil, store.ErrOperationDamaged
	}
}

func unpackIDs(rest []byte) (out []store.OperationMessage, err error) {
	for ; len(rest) > 0; rest = rest[len(postbag.ID{}):] {
		if len(rest) < len(postbag.ID{}) {
			return nil, store.ErrOperationDamaged
		}
		out = append(out, store.OperationMessage{ID: postbag.ID(rest[:len(postbag.ID{})])})
	}
	return out, nil
}

func unpackSeqs(rest []byte) (out []store.OperationMessage, err error) {
	var m store.OperationMessage
	for len(rest) > 0 {
		step, n := binary.Varint(rest)
		if n <= 0 || len(rest) < n+idSum {
			return nil, store.ErrOperationDamaged
		}
		m.Seq += step
		copy(m.ID[:idSum], rest[n:]) // the rest of it is zero, so that its sum is this
		out, rest = append(out, m), rest[n+idSum:]
	}
	return out, nil
}

// SameMessage says whether a message of the log that has this id is the one that a part names.
func SameMessage(m *store.OperationMessage, id postbag.ID) bool {
	return sumOf(id) == sumOf(m.ID)
}

// PartsOf are the first and the last part that have messages from one number up to another.
func PartsOf(from, to int64) (first, last int64) {
	return from / store.OperationPart, (to - 1) / store.OperationPart
}

// MessagesOf returns n messages from the one with the number from on, of the parts that PartsOf says.
func MessagesOf(parts [][]byte, from int64, n int) ([]store.OperationMessage, error) {
	var all []store.OperationMessage
	for _, part := range parts {
		some, err := UnpackMessages(part)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	begin := int(from % store.OperationPart)
	if len(all) < begin+n {
		return nil, store.ErrOperationDamaged
	}
	return all[begin : begin+n], nil
}
