package postbag

import (
	"errors"
	"strings"
	"testing"
)

func TestWhatTheCheckRefusesIsNamedByIndexAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	r := &recording{}
	bad := errors.New("no tenant")
	asked := 0
	p, err := NewPublisher(r, PublisherOptions{Headers: map[string]string{"region": "eu"}, Check: func(m *Message) error {
		asked++
		if m.ID.IsZero() || m.Topic != "outbox" || m.Headers["region"] != "eu" {
			t.Errorf("the check sees %+v, which is not complete", m)
		}
		defer func() { m.Topic = "changed" }()
		if m.Headers["tenant"] == "" {
			return bad
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	good := Message{Headers: map[string]string{"tenant": "acme"}}
	err = p.Publish(t.Context(), &testTx{}, good, Message{}, Message{Key: "\xff"})
	fault, is := errors.AsType[*MessageError](err)
	switch {
	case !is || fault.Index != 1 || fault.Field != "Check" || !errors.Is(err, bad):
		t.Errorf("the error is %#v", err)
	case !strings.Contains(err.Error(), "postbag: message 1: Check refuses it: no tenant") || !strings.Contains(err.Error(), "message 2: Key"):
		t.Errorf("the error says\n%v", err)
	case asked != 2:
		t.Errorf("it was asked for %d messages, want those without another fault", asked)
	case len(r.appended) > 0:
		t.Errorf("%v was written", r.appended)
	}
	if err := p.Publish(t.Context(), &testTx{}, good); err != nil || len(r.appended) != 1 || r.appended[0][0].Topic != "outbox" {
		t.Errorf("a good message: %v, and %+v is written", err, r.appended)
	}
}
