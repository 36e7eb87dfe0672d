package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postbag/postbag"
)

// Replayer is implemented by a store that keeps replays. A replay is a subscription that
// ends: it sends again what lies between two seqs of a box. It has positions, parked
// messages and a ledger of its own, and leaves those of other subscriptions alone.
// Retention waits for it as for any subscription. Overview shows it, see
// SubscriptionView.Replay.
type Replayer interface {
	// StartReplay makes the replay, under the lock of its box, and writes it to the audit
	// log. If a subscription of that name exists, the error is ErrReplayExists. If
	// Replay.Of does not exist, or is a replay, it is ErrNoSubscription. What retention has
	// deleted by then does not come.
	StartReplay(ctx context.Context, a Audit, r Replay) error
	// EndReplay removes a replay with its positions, parked messages, commands and ledger. A
	// store may delete rows later, some at a time, as Steward.Remove does.
	// It writes summary to the audit log, in the same transaction. A relay that works the
	// replay loses its leases. Of what is no replay the error is ErrNoReplay.
	EndReplay(ctx context.Context, a Audit, r Ref, summary string) error
	// SeqBefore returns a seq up to which about everything of a box was stored before a
	// time, by a bounded search. Zero: nothing was.
	SeqBefore(ctx context.Context, box string, at time.Time) (int64, error)
	// Floor returns the seq up to which a position has passed everything, so that nothing
	// there can come any more, however late it commits. It asks no database.
	Floor(p Position) (int64, error)
}

// Errors of a Replayer.
var (
	// ErrNoReplay: there is no such replay.
	ErrNoReplay = errors.New("store: no such replay; postbag replay list names those there are")
	// ErrReplayExists: a subscription or a replay of the name exists.
	ErrReplayExists = errors.New("store: a subscription or replay of that name exists; choose another name")
	// ErrIsReplay: a subscription was declared by the name of a replay.
	ErrIsReplay = errors.New("store: the name is that of a replay; choose another name, or wait until the replay is over")
)

// Replay says what is sent again.
type Replay struct {
	// Ref is the box, and the name of the replay itself.
	Ref Ref `json:"-"`
	// Of is the subscription whose messages come again.
	Of string `json:"of"`
	// After and Through bound the seqs: above After, and Through at most.
	After   int64 `json:"after"`
	Through int64 `json:"through"`
	// From and Before bound when messages were stored: at From or later, and earlier than
	// Before. Zero: no bound.
	From   time.Time `json:"from,omitzero"`
	Before time.Time `json:"before,omitzero"`
	// Types is the filter, as in Spec.Types.
	Types []string `json:"types,omitempty"`
	// Where narrows that, as in Spec.Where.
	Where Where `json:"where,omitzero"`
	// Keys are the SHA-256 sums, in hexadecimal, of the keys whose messages come: see
	// KeySum. Empty: those of all keys.
	Keys []string `json:"keys,omitempty"`
	// Rate is the most messages a second. Zero: no limit of its own.
	Rate float64 `json:"rate,omitempty"`
	// Destination is where they go, by the name that the configuration has for it.
	Destination string `json:"destination,omitempty"`
	// Unmarked: messages carry no header that says that they come again.
	Unmarked bool `json:"unmarked,omitempty"`
	// Shards is how many the replay has. Zero: as in Spec.
	Shards int `json:"-"`
}

// KeySum is how Replay.Keys has a key, so that no key stays behind in the database.
func KeySum(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// MaxReplayKeys is the most keys that a replay can name.
const MaxReplayKeys = 1000

// Validate says what is wrong with r.
func (r *Replay) Validate() error {
	errs := []error{postbag.ValidBox(r.Ref.Box), postbag.ValidSubscription(r.Ref.Subscription), postbag.ValidSubscription(r.Of)}
	if r.After < 0 || r.Through <= r.After {
		errs = append(errs, fmt.Errorf("store: a replay after seq %d through seq %d is empty; end it behind where it begins", r.After, r.Through))
	}
	if !r.From.IsZero() && !r.Before.IsZero() && !r.From.Before(r.Before) {
		errs = append(errs, errors.New("store: a replay ends before it begins; give a later end"))
	}
	if len(r.Keys) > MaxReplayKeys {
		errs = append(errs, fmt.Errorf("store: a replay of %d keys; name %d at most", len(r.Keys), MaxReplayKeys))
	}
	if !(r.Rate >= 0 && r.Rate <= 1e9) || r.Shards < 0 || r.Shards > SlotCount {
		errs = append(errs, fmt.Errorf("store: a replay at rate %v in %d shards; give a rate of 0 to 1e9, and 0 to %d shards", r.Rate, r.Shards, SlotCount))
	}
	f := Filter{Types: r.Types, Where: r.Where}
	return errors.Join(append(errs, f.ValidateNew())...)
}

// Takes says whether r sends a message again, as far as seq, time and key go. Its Types
// and Where are the store's.
func (r *Replay) Takes(m *Record) bool {
	switch {
	case m.Seq <= r.After || m.Seq > r.Through:
		return false
	case !r.From.IsZero() && m.At.Before(r.From):
		return false
	case !r.Before.IsZero() && !m.At.Before(r.Before):
		return false
	}
	return len(r.Keys) == 0 || slices.Contains(r.Keys, KeySum(m.Key))
}

// Spec is how a replay is declared.
func (r *Replay) Spec() Spec {
	return Spec{Ref: r.Ref, From: Start{After: r.After}, Types: r.Types, Where: r.Where, Shards: r.Shards}
}
