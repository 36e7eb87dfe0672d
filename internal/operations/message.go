package operations

import (
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/ndjson"
	"github.com/postbag/postbag/store"
)

// Message is a message in JSON. Names of fields are a contract.
type Message struct {
	// The message's id, a UUID.
	ID postbag.ID `json:"id"`
	// Its number in the box; none for a scheduled message.
	Seq int64 `json:"seq,omitempty"`
	// The box.
	Box string `json:"box"`
	// The subscription whose state this is; none for a scheduled message.
	Subscription string `json:"subscription,omitempty"`
	// pending, retrying, blocked, in-flight, held, dead, delivered, discarded,
	// superseded, filtered or scheduled.
	State store.State `json:"state"`
	// The subscription is through with it: delivered, discarded, superseded or filtered. A message is
	// done when all its subscriptions are.
	Done bool `json:"done"`
	// Attempts that were counted.
	Attempts int `json:"attempts,omitempty"`
	// Seconds until the next attempt, or until it is due.
	Next float64 `json:"next_seconds,omitempty"`
	// The command that waits for a relay: retry or discard.
	Queued string `json:"queued,omitempty"`
	// When it was stored, by the database's clock.
	Stored time.Time `json:"stored"`
	// When a scheduled message is due.
	NotBefore *time.Time `json:"not_before,omitempty"`
	// The message's topic.
	Topic string `json:"topic"`
	// The message's key.
	Key string `json:"key,omitempty"`
	// The message's shard key.
	ShardKey string `json:"shard_key,omitempty"`
	// The message's type.
	Type string `json:"type,omitempty"`
	// The size of the payload.
	Bytes int `json:"bytes"`
	// The last error.
	Error string `json:"error,omitempty"`
	// The id of the message that an operator edited, and published as this one.
	EditedFrom string `json:"edited_from,omitempty"`
	// The message's headers; with --payload, and in show.
	Headers map[string]string `json:"headers,omitempty"`
	// The payload as payload or payload_base64, in the form of publish --ndjson;
	// with --payload, and in show.
	ndjson.Body
	// The latest attempts, oldest first; in show.
	History []Attempt `json:"history,omitempty"`
}

// Attempt is one entry of a history in JSON.
type Attempt struct {
	// When it was.
	At time.Time `json:"at"`
	// The state that the message had after it.
	State string `json:"state"`
	// Why.
	Error string `json:"error,omitempty"`
}

// MessageOf returns a message as programs see it, with its payload and headers only
// when they are asked for.
func MessageOf(box string, item *store.Item, payload bool) Message {
	v := Message{
		ID: item.ID, Seq: item.Seq, Box: box, Subscription: item.Subscription, State: item.State, Done: Through(item.State),
		Attempts: item.Attempts, Next: max(item.Due.Seconds(), 0), Stored: item.At.UTC(),
		Topic: item.Topic, Key: item.Key, ShardKey: item.ShardKey, Type: item.Type,
		Bytes: len(item.Payload), Error: item.Reason, EditedFrom: EditedFrom(item.Headers),
	}
	if item.Queued != 0 {
		v.Queued = CommandName(item.Queued)
	}
	if !item.NotBefore.IsZero() {
		at := item.NotBefore.UTC()
		v.NotBefore = &at
	}
	if payload {
		v.Headers, v.Body = item.Headers, ndjson.BodyOf(item.Payload)
	}
	for _, a := range item.History {
		v.History = append(v.History, Attempt{a.At.UTC(), a.State.String(), a.Reason})
	}
	return v
}

// Compact writes the payload of a message as MessageOf does, however it came: it may be in base64.
func Compact(m *Message) error {
	data, err := m.Body.Bytes()
	if err == nil {
		m.Body = ndjson.BodyOf(data)
	}
	return err
}

// Through says whether a subscription has nothing more to do with a message in that state.
func Through(s store.State) bool {
	switch s {
	case store.StateDelivered, store.StateDiscarded, store.StateSuperseded, store.StateFiltered:
		return true
	default:
		return false
	}
}

// DoneText says of the copies of one message, for people, whether it is done: whether all its
// subscriptions are through with it.
func DoneText(all []Message) string {
	var waits []string
	for i := range all {
		if m := &all[i]; !Through(m.State) {
			waits = append(waits, strings.TrimSpace(m.Subscription+" "+string(m.State)))
		}
	}
	if len(waits) == 0 {
		return "yes"
	}
	return "no: " + strings.Join(waits, ", ")
}

// CommandName is the word for a command: retry or discard.
func CommandName(kind store.CommandKind) string {
	if kind == store.Discard {
		return "discard"
	}
	return "retry"
}
