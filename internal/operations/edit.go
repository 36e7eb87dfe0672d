package operations

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// MostEdited is the largest payload that can be edited, in bytes.
const MostEdited = 64 << 10

// Edit is what an operator changes of a message.
type Edit struct {
	Payload []byte
	// As is the id of the new message. Zero: a new one.
	As postbag.ID
	// Headers are all that the new message has, but for store.HeaderEditedFrom. Of those that EditableHeaders leaves out it has none.
	Headers map[string]string
}

// NotEditable says why a payload cannot be edited as text. Empty: it can.
func NotEditable(payload []byte) string {
	odd := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	switch {
	case len(payload) > MostEdited:
		return "it has more than 64 KiB"
	case !utf8.Valid(payload) || bytes.IndexFunc(payload, odd) >= 0:
		return "it is no text, or has signs that a form does not keep"
	}
	return ""
}

// Edit publishes a message of a box again as a new one, edited: with the topic, key, shard key and type that it has, and the payload and
// headers of e. The old message stays as it is, and the audit log names both. It returns the id of the new one. A message that the
// box does not have is ErrNotFound, one that cannot be edited ErrInvalid.
func (s Store) Edit(ctx context.Context, a store.Audit, box string, of postbag.ID, e Edit) (id postbag.ID, err error) {
	if s.Reviser == nil {
		return id, refusef(ErrUnsupported, "this kind of store takes no edited messages; use postbag publish")
	}
	items, err := s.Find(ctx, store.Ref{Box: box}, of)
	if err != nil {
		return id, err
	}
	old := &items[0]
	switch why := NotEditable(old.Payload); {
	case old.Err != nil || store.IsErased(old.Headers):
		return id, refusef(ErrInvalid, "the message cannot be read whole, or was erased; publish another with postbag publish")
	case why != "":
		return id, refusef(ErrInvalid, "the payload cannot be edited, since %s; publish another with postbag publish --payload-file", why)
	}
	if old.State == store.StateScheduled {
		return id, refusef(ErrInvalid, "the message is scheduled, and the new one would be sent at once; cancel it, and publish another with postbag publish --at")
	}
	if why := NotEditable(e.Payload); why != "" {
		return id, refusef(ErrInvalid, "the new payload cannot be taken, since %s; change it, or use postbag publish --payload-file", why)
	}
	m := postbag.Message{ID: e.As, Topic: old.Topic, Key: old.Key, ShardKey: old.ShardKey, Type: old.Type, Payload: e.Payload, Headers: map[string]string{}}
	if m.ID.IsZero() {
		m.ID = postbag.NewID()
	}
	maps.Copy(m.Headers, EditableHeaders(e.Headers))
	m.Headers[store.HeaderEditedFrom] = of.String()
	if err := postbag.ValidHeaders(m.Headers); err != nil {
		return id, refusef(ErrInvalid, "%v", err)
	}
	return m.ID, s.Reviser.Revise(ctx, a, box, of, m)
}

// EditableHeaders returns those of a message's headers that one which is made of it can have. That it was made of another, and why its
// consumer parked it, is said of that message alone. No publisher may set the latter, so an edit with it would be refused.
func EditableHeaders(headers map[string]string) map[string]string {
	own := maps.Clone(headers)
	maps.DeleteFunc(own, func(name, _ string) bool {
		return strings.EqualFold(name, store.HeaderEditedFrom) || strings.EqualFold(name, store.FailedHeader)
	})
	return own
}

// EditedFrom returns the id of the message that one with these headers was edited from. Empty: it was not.
func EditedFrom(headers map[string]string) string {
	for name, value := range headers {
		if strings.EqualFold(name, store.HeaderEditedFrom) {
			if id, err := postbag.ParseID(value); err == nil {
				return id.String()
			}
		}
	}
	return ""
}

// lookedForEdits is how many of the latest lines of the audit log a look for edited messages reads.
const lookedForEdits = 1000

// EditedAs returns the ids of the messages that one of a box was edited as, the latest first, as far as the latest 1,000 lines of the
// audit log have them.
func (s Store) EditedAs(ctx context.Context, box string, id postbag.ID) (all []postbag.ID, err error) {
	entries, err := s.Audited(ctx, lookedForEdits)
	for i := range entries {
		if of, as, ok := storekit.Revised(entries[i].What, box); ok && of == id {
			all = append(all, as)
		}
	}
	return all, err
}
