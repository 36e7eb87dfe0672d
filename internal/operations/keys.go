package operations

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// BlockedKey is a key of a subscription whose messages wait behind one, in JSON. Names of fields are a contract.
type BlockedKey struct {
	// The subscription.
	Subscription string `json:"subscription"`
	// The key.
	Key string `json:"key"`
	// How many of its messages were seen to wait.
	Waiting int `json:"waiting"`
	// There may be more than were seen: a look reads a bounded number.
	AtLeast bool `json:"at_least,omitempty"`
	// When the oldest message was stored, of those that wait and the one that they wait behind.
	Since time.Time `json:"since"`
	// The message that they wait behind; none: it was not among those that were read.
	Behind *BlockingMessage `json:"behind,omitempty"`
}

// BlockingMessage is a message that others wait behind, in JSON.
type BlockingMessage struct {
	// Its id.
	ID postbag.ID `json:"id"`
	// Its state.
	State store.State `json:"state"`
	// Its last error.
	Error string `json:"error,omitempty"`
}

type keyPlace struct{ subscription, key string }

// BlockedKeys returns the keys of a box, or of the subscription that is named, whose messages wait: those with most of them first, and
// of as many the oldest. It reads the oldest of each parked state, at most MostParked.
func (s Store) BlockedKeys(ctx context.Context, r store.Ref) ([]BlockedKey, error) {
	q := store.Query{Ref: r, Oldest: true, Bare: true, Limit: MostParked}
	items, more, err := s.parkedOf(ctx, q, store.StateBlocked)
	if err != nil {
		return nil, err
	}
	keys, at := []BlockedKey{}, make(map[keyPlace]int)
	for i := range items {
		item := &items[i]
		where := keyPlace{item.Subscription, item.Key}
		n, known := at[where]
		if !known {
			n = len(keys)
			at[where] = n
			keys = append(keys, BlockedKey{Subscription: item.Subscription, Key: item.Key, AtLeast: more, Since: item.At.UTC()})
		}
		keys[n].Waiting++
	}
	if len(keys) == 0 {
		return keys, nil
	}
	if err := s.blocking(ctx, q, keys, at); err != nil {
		return nil, err
	}
	slices.SortStableFunc(keys, func(a, b BlockedKey) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), a.Since.Compare(b.Since))
	})
	return keys, nil
}

// BlockingStates are those of messages that others wait behind. Dead ones come last: most let their key go on.
func BlockingStates() []store.State {
	return []store.State{store.StateRetrying, store.StateHeld, store.StateInFlight, store.StateDead}
}

// blocking fills in which messages others wait behind: the first of each key that is parked itself.
func (s Store) blocking(ctx context.Context, q store.Query, keys []BlockedKey, at map[keyPlace]int) error {
	for _, state := range BlockingStates() {
		items, _, err := s.parkedOf(ctx, q, state)
		if err != nil {
			return err
		}
		for i := range items {
			item := &items[i]
			n, known := at[keyPlace{item.Subscription, item.Key}]
			if !known || keys[n].Behind != nil {
				continue
			}
			keys[n].Behind = &BlockingMessage{item.ID, item.State, item.Reason}
			if when := item.At.UTC(); when.Before(keys[n].Since) {
				keys[n].Since = when
			}
		}
	}
	return nil
}

// MostAround is how many parked messages of each state a look at one key reads.
const MostAround = 200

// KeyAround is what is parked of the key of one message, in JSON. Names of fields are a contract.
type KeyAround struct {
	// The subscription.
	Subscription string `json:"subscription"`
	// The key; none: the message waits for no other.
	Key string `json:"key,omitempty"`
	// The message.
	Message Message `json:"message"`
	// Parked messages of the key that were stored before it, the oldest first.
	Before []Message `json:"before"`
	// Parked messages of the key that were stored behind it, the oldest first.
	Behind []Message `json:"behind"`
	// There may be more: a look reads a bounded number of each state.
	AtLeast bool `json:"at_least,omitempty"`
}

// Around returns what is parked of the key of a message, once for each subscription that has the message, or for the one that is
// named. A message that the box does not show is ErrNotFound.
func (s Store) Around(ctx context.Context, r store.Ref, id postbag.ID) ([]KeyAround, error) {
	items, err := s.Find(ctx, r, id)
	if err != nil {
		return nil, err
	}
	out := make([]KeyAround, 0, len(items))
	for i := range items {
		one, err := s.around(ctx, r.Box, &items[i])
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (s Store) around(ctx context.Context, box string, of *store.Item) (KeyAround, error) {
	v := KeyAround{Subscription: of.Subscription, Key: of.Key, Message: MessageOf(box, of, false), Before: []Message{}, Behind: []Message{}}
	if of.Key == "" || of.Subscription == "" {
		return v, nil
	}
	q := store.Query{Ref: store.Ref{Box: box, Subscription: of.Subscription}, Key: of.Key, Oldest: true, Limit: MostAround}
	var found []store.Item
	for _, state := range ParkedStates() {
		items, more, err := s.parkedOf(ctx, q, state)
		if err != nil {
			return v, err
		}
		v.AtLeast = v.AtLeast || more
		found = append(found, items...)
	}
	slices.SortFunc(found, func(a, b store.Item) int { return cmp.Compare(a.Seq, b.Seq) })
	for i := range found {
		switch item := &found[i]; cmp.Compare(item.Seq, of.Seq) {
		case -1:
			v.Before = append(v.Before, MessageOf(box, item, false))
		case 1:
			v.Behind = append(v.Behind, MessageOf(box, item, false))
		}
	}
	return v, nil
}
