package console

import (
	"context"
	"encoding/json"
	"errors"
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
func (c *console) tells(ctx context.Context, item *store.Item) (bool, error) {
	if c.rules == nil || c.decode == nil || len(item.Payload) > mostDecoded || json.Valid(item.Payload) {
		return false, nil
	}
	text, ok := c.decode(item.Topic, item.Type, item.Payload)
	if !ok {
		return false, nil
	}
	_, hides, err := c.rules.Payload(ctx, []byte(text))
	return hides, err
}

// errSlowRules is that of a payload which takes longer to look at than a question may.
var errSlowRules = &lateError{"what the rules hide in the payload could not be found in time, so it is not shown; use postbag messages show"}

// messageOf is a message as it may be seen, with payload and headers if they are asked for, and what of them is hidden. All that
// shows payloads or headers must take them from here. The error is that of the time-out: a large payload takes a while.
func (c *console) messageOf(ctx context.Context, box string, item *store.Item, payload bool) (m operations.Message, hidden []string, err error) {
	if !payload {
		return operations.MessageOf(box, item, false), nil, nil
	}
	seen := *item
	var some bool
	if seen.Headers, some = c.rules.Headers(item.Headers); some {
		hidden = append(hidden, hiddenHeaders)
	}
	if seen.Payload, some, err = c.rules.Payload(ctx, item.Payload); err != nil {
		return m, nil, slowRules(err)
	}
	if some && seen.Payload == nil {
		hidden = append(hidden, hiddenPayload)
	} else if some {
		hidden = append(hidden, hiddenParts)
	}
	if len(seen.Payload) > 0 {
		tells, err := c.tells(ctx, &seen)
		if err != nil {
			return m, nil, slowRules(err)
		}
		if tells {
			seen.Payload, hidden = nil, append(hidden, hiddenDecoded)
		}
	}
	m = operations.MessageOf(box, &seen, true)
	m.Bytes = len(item.Payload)
	return m, hidden, nil
}

func slowRules(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errSlowRules
	}
	return err
}
