package console

import (
	"encoding/json"
	"fmt"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/internal/redact"
	"github.com/postbag/postbag/store"
)

// Redact says what of payloads and headers nobody sees, whatever their rights. *** stands in its place. The zero value
// hides nothing. It does not look into topics, keys, types and errors.
type Redact struct {
	// Headers are names of headers whose values are hidden, whatever their case. * stands for any text: x-*.
	Headers []string
	// JSON are paths to values of payloads that are hidden, such as $.card.number, $..password, $.items[0] and $['a b']. Names
	// match whatever their case. See guides/console.md.
	JSON []string
	// ShowOther: payloads that are no JSON are shown, although there are paths. Without it they are hidden.
	ShowOther bool
}

// rules reads the rules; nil: there are none.
func (r Redact) rules() (*redact.Rules, error) {
	rules, err := redact.New(redact.Options{Headers: r.Headers, JSON: r.JSON, ShowOther: r.ShowOther})
	if err != nil {
		return nil, fmt.Errorf("console: Redact: %w", err)
	}
	return rules, nil
}

// What is hidden of a message, in words.
const (
	hiddenHeaders = "values of headers"
	hiddenParts   = "parts of the payload"
	hiddenDecoded = "the payload, since its decoded form has what the rules hide"
	hiddenPayload = "the payload, which is no JSON, so that no rule can find what to hide in it"
)

// tells says that a payload which is no JSON has what the rules hide, as a decoder reads it.
func (c *console) tells(item *store.Item) bool {
	if c.rules == nil || c.decode == nil || len(item.Payload) > mostDecoded || json.Valid(item.Payload) {
		return false
	}
	text, ok := c.decode(item.Topic, item.Type, item.Payload)
	if !ok {
		return false
	}
	_, hides := c.rules.Payload([]byte(text))
	return hides
}

// messageOf is a message as it may be seen, with payload and headers if they are asked for, and what of them is hidden. All that
// shows payloads or headers must take them from here.
func (c *console) messageOf(box string, item *store.Item, payload bool) (m operations.Message, hidden []string) {
	if !payload {
		return operations.MessageOf(box, item, false), nil
	}
	seen := *item
	var some bool
	if seen.Headers, some = c.rules.Headers(item.Headers); some {
		hidden = append(hidden, hiddenHeaders)
	}
	if seen.Payload, some = c.rules.Payload(item.Payload); some && seen.Payload == nil {
		hidden = append(hidden, hiddenPayload)
	} else if some {
		hidden = append(hidden, hiddenParts)
	}
	if len(seen.Payload) > 0 && c.tells(&seen) {
		seen.Payload, hidden = nil, append(hidden, hiddenDecoded)
	}
	m = operations.MessageOf(box, &seen, true)
	m.Bytes = len(item.Payload)
	return m, hidden
}
