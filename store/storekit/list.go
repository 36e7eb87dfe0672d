package storekit

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Cursor is where a listing goes on: at the message with an ordinal (a seq, or the number
// of a scheduled message), from its item number Skip.
type Cursor struct {
	Ordinal int64
	Skip    int
}

// ParseCursor reads a cursor; "" is the beginning of a walk of that direction.
func ParseCursor(text string, oldest bool) (Cursor, error) {
	c := Cursor{Ordinal: 1<<63 - 1}
	if oldest {
		c.Ordinal = 0
	}
	if text == "" {
		return c, nil
	}
	if _, err := fmt.Sscanf(text, "%d.%d", &c.Ordinal, &c.Skip); err != nil || c.Ordinal < 0 || c.Skip < 0 || c.String() != text {
		return c, store.ErrCursor
	}
	return c, nil
}

// String returns the text that ParseCursor reads.
func (c Cursor) String() string { return fmt.Sprintf("%d.%d", c.Ordinal, c.Skip) }

// StateOf returns how listings call the state of a parked message.
func StateOf(s store.ParkState) store.State {
	switch s {
	case store.ParkRetrying:
		return store.StateRetrying
	case store.ParkBlocked:
		return store.StateBlocked
	case store.ParkInFlight:
		return store.StateInFlight
	case store.ParkHeld:
		return store.StateHeld
	default:
		return store.StateDead
	}
}

// ParkStateOf is the reverse of StateOf.
func ParkStateOf(s store.State) store.ParkState {
	switch s {
	case store.StateRetrying:
		return store.ParkRetrying
	case store.StateBlocked:
		return store.ParkBlocked
	case store.StateInFlight:
		return store.ParkInFlight
	case store.StateHeld:
		return store.ParkHeld
	default:
		return store.ParkDead
	}
}

// Attempts reads a stored history: a JSON array of [at, state, reason], at in
// microseconds since 1970.
func Attempts(history string) ([]store.Attempt, error) {
	var entries [][3]any
	if err := json.Unmarshal([]byte(history), &entries); err != nil {
		return nil, err
	}
	out := make([]store.Attempt, len(entries))
	for i, e := range entries {
		at, _ := e[0].(float64)
		state, _ := e[1].(float64)
		reason, _ := e[2].(string)
		out[i] = store.Attempt{At: time.UnixMicro(int64(at)).UTC(), State: store.ParkState(state), Reason: reason}
	}
	return out, nil
}

// mostAttempts is how many entries a history has.
const mostAttempts = 20

// WithAttempt returns a stored history with another entry, and without its oldest if it is full.
func WithAttempt(history string, at int64, state store.ParkState, reason string) (string, error) {
	var entries []json.RawMessage
	if err := json.Unmarshal([]byte(history), &entries); err != nil {
		return "", err
	}
	entry, err := json.Marshal([3]any{at, int(state), reason})
	if err != nil {
		return "", err
	}
	entries = append(entries[max(0, len(entries)+1-mostAttempts):], entry)
	out, err := json.Marshal(entries)
	return string(out), err
}

// Superseded says by the history of a message, which was parked and is no more, that a newer one of its
// key superseded it.
func Superseded(history []store.Attempt) bool {
	return len(history) > 0 && history[len(history)-1].State == store.ParkSuperseded
}

// Matches says whether an item is one that a query asks for. types are the query's
// AllTypes.
func Matches(q *store.Query, types Types, item *store.Item) bool {
	return (q.State == "" || item.State == q.State) &&
		(q.ID == postbag.ID{} || item.ID == q.ID) &&
		(q.Topic == "" || item.Topic == q.Topic) &&
		(q.Key == "" || item.Key == q.Key) &&
		types.Take(item.Type) &&
		(q.After.IsZero() || !item.At.Before(q.After)) &&
		(q.Before.IsZero() || item.At.Before(q.Before)) &&
		(q.Error == "" || strings.Contains(strings.ToLower(item.Reason), strings.ToLower(q.Error)))
}

// ClockSlack is how far times may deviate from the sequence of seqs. A search by time
// still finds all that it should.
const ClockSlack = time.Minute

// DrawnAt returns when an id of version 7 was drawn, less ClockSlack.
func DrawnAt(id postbag.ID) (time.Time, bool) {
	if id[6]>>4 != 7 {
		return time.Time{}, false
	}
	var ms int64
	for _, b := range id[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms).Add(-ClockSlack), true
}

// FirstDrawn returns when the first of some ids was drawn, less ClockSlack, if each of them says when.
func FirstDrawn(ids []postbag.ID) (first time.Time, known bool) {
	for i, id := range ids {
		drawn, known := DrawnAt(id)
		if !known {
			return time.Time{}, false
		}
		if i == 0 || drawn.Before(first) {
			first = drawn
		}
	}
	return first, len(ids) > 0
}
