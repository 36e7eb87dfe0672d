package postbag

import (
	"reflect"
	"testing"
	"time"
)

// fullMessage has every field set, which the test below makes sure of.
func fullMessage() Message {
	return Message{
		ID: ID{1}, Topic: "topic", Key: "key", ShardKey: "shard", Type: "type",
		Headers: map[string]string{"a": "1"}, Payload: []byte("payload"),
		NotBefore: time.Unix(1_800_000_000, 0), fault: &MessageError{Field: "Payload"},
	}
}

func TestEqualComparesEveryField(t *testing.T) {
	t.Parallel()
	full := fullMessage()
	if !full.Equal(full.Clone()) {
		t.Error("a message differs from its clone")
	}
	fields := reflect.TypeFor[Message]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if reflect.ValueOf(full).Field(i).IsZero() {
			t.Fatalf("fullMessage lacks %s", field.Name)
		}
		other := full.Clone()
		if field.IsExported() {
			reflect.ValueOf(&other).Elem().Field(i).SetZero()
		} else {
			other.fault = nil // the only one
		}
		if full.Equal(other) || other.Equal(full) {
			t.Errorf("messages that differ in %s are equal", field.Name)
		}
	}
}

func TestEqualTakesNilAndEmptyForTheSame(t *testing.T) {
	t.Parallel()
	a := Message{NotBefore: time.Unix(1, 0).UTC()}
	b := Message{Headers: map[string]string{}, Payload: []byte{}, NotBefore: time.Unix(1, 0).In(time.FixedZone("x", 3600))}
	if !a.Equal(b) || !b.Equal(a) {
		t.Error("nil and empty, or one instant in two zones, are different")
	}
}

func TestCloneSharesNothing(t *testing.T) {
	t.Parallel()
	m := fullMessage()
	c := m.Clone()
	c.Headers["a"], c.Payload[0] = "2", 'P'
	if m.Headers["a"] != "1" || string(m.Payload) != "payload" {
		t.Errorf("changing the clone changed the message: %+v", m)
	}
	if empty := (Message{}).Clone(); empty.Headers != nil || empty.Payload != nil {
		t.Errorf("the clone of the zero message is %+v", empty)
	}
}
