package storekit

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/postbag/postbag/store"
)

// condition is how a heartbeat row holds a store.Condition. Times are nanoseconds.
type condition struct {
	Box          string         `json:"box"`
	Subscription string         `json:"subscription"`
	State        string         `json:"state"`
	Since        time.Duration  `json:"since"`
	Error        string         `json:"error,omitempty"`
	Topics       []topicTrouble `json:"topics,omitempty"`
	Unsettled    int            `json:"unsettled,omitempty"`
	Lease        time.Duration  `json:"lease,omitempty"`
	Destination  string         `json:"destination,omitempty"`
	Pauses       bool           `json:"pauses,omitempty"`
}

// topicTrouble is how a heartbeat row holds a store.TopicCondition.
type topicTrouble struct {
	Topic string        `json:"topic"`
	Since time.Duration `json:"since"`
	Error string        `json:"error,omitempty"`
}

// ConditionsText is how a heartbeat row holds conditions, in JSON; empty: none.
func ConditionsText(all []store.Condition) (string, error) {
	if len(all) == 0 {
		return "", nil
	}
	rows := make([]condition, len(all))
	for i := range all {
		c := &all[i]
		rows[i] = condition{
			Box: c.Box, Subscription: c.Subscription, State: c.State, Since: c.Since, Error: c.Error, Unsettled: c.Unsettled,
			Lease: c.Lease, Destination: c.Destination, Pauses: c.Pauses,
		}
		for _, t := range c.Topics {
			rows[i].Topics = append(rows[i].Topics, topicTrouble(t))
		}
	}
	text, err := json.Marshal(rows)
	return string(text), err
}

// ParseConditions reads what ConditionsText has written.
func ParseConditions(text string) ([]store.Condition, error) {
	if text == "" {
		return nil, nil
	}
	var rows []condition
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, fmt.Errorf("read a heartbeat row: %w; delete it from postbag__relay", err)
	}
	out := make([]store.Condition, len(rows))
	for i, r := range rows {
		out[i] = store.Condition{
			Ref: store.Ref{Box: r.Box, Subscription: r.Subscription}, State: r.State, Since: r.Since, Error: r.Error, Unsettled: r.Unsettled,
			Lease: r.Lease, Destination: r.Destination, Pauses: r.Pauses,
		}
		for _, t := range r.Topics {
			out[i].Topics = append(out[i].Topics, store.TopicCondition(t))
		}
	}
	return out, nil
}
