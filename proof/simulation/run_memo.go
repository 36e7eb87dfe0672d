package simulation

import (
	"encoding/binary"

	"github.com/postbag/postbag/store"
)

// memo remembers what strings say that were decoded lately: a position is looked at
// by the flow's turn, by the read, by the check of the settlement, and so on.
type memo[T any] struct {
	known [1 << 8]*memorized[T]
	room  room[memorized[T]]
}

type memorized[T any] struct {
	raw   store.Position
	value T
}

// of returns what a string says. Nobody may change it, and it is good until the end
// of the run.
func (m *memo[T]) of(raw store.Position, decode func(raw store.Position) T) *T {
	place := &m.known[byte(scatter(raw)>>56)]
	if k := *place; k != nil && k.raw == raw {
		return &k.value
	}
	k := m.room.take()
	*k = memorized[T]{raw, decode(raw)}
	*place = k
	return &k.value
}

// scatter is a number for a string, by its end: where positions differ.
func scatter(s store.Position) uint64 {
	var end [8]byte
	copy(end[:], s[max(0, len(s)-8):])
	return (binary.LittleEndian.Uint64(end[:]) + uint64(len(s))) * 0x9e3779b97f4a7c15
}

func (m *memo[T]) empty() {
	clear(m.known[:])
	m.room.empty()
}
