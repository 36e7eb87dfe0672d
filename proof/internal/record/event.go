package record

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/history"
)

// Event is what writers publish: the N-th committed message of its key, from zero, or one that must never be seen.
type Event struct {
	Key string `json:"key"`
	N   int    `json:"n"`
	// Phantom says that it is a message of a transaction that does not commit.
	Phantom bool `json:"phantom,omitempty"`
	// Note is whatever more a test wants to find in it.
	Note string `json:"note,omitempty"`
}

// Payload is the event as it is published.
func (e Event) Payload() []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // texts, a number and a truth
	}
	return text
}

// Plain is the payload of the N-th message of a key, without a note.
func Plain(key string, n int) []byte { return Event{Key: key, N: n}.Payload() }

// Arrival is an event in the broker. Arrivals stand in the broker's order, or at least those of a key do.
type Arrival struct {
	Event

	// From and To are when the broker stored it: the earliest and the latest that it can have been. Zero: that is not known.
	From, To time.Time
	// Sum is of the payload as it arrived. Zero: its bytes are not judged.
	Sum history.Hash
}

// Arrived reads the payload of a message that arrived. One that is damaged ends the test.
func Arrived(t testing.TB, payload []byte) Arrival {
	t.Helper()
	a := Arrival{Sum: history.Sum(payload)}
	if err := json.Unmarshal(payload, &a.Event); err != nil {
		t.Fatalf("a message arrived damaged: %v", err)
	}
	return a
}
