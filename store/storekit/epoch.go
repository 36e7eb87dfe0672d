package storekit

import (
	"crypto/rand"
	"encoding/binary"
)

// NewEpoch draws the epoch of a lane that is opened (store.Lanes). It is random, so that a
// database that was restored gives none out again. It is between lowestEpoch and twice that:
// above what programs gave out that counted openings, and with room to count on from it. It
// is safe for concurrent use. It never fails: the program ends if the system has no
// randomness.
func NewEpoch() int64 {
	var b [8]byte
	rand.Read(b[:]) // never fails, as it says
	return lowestEpoch + int64(binary.BigEndian.Uint64(b[:])%lowestEpoch)
}

// lowestEpoch leaves an epoch 61 random bits.
const lowestEpoch = 1 << 61
