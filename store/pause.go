package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postbag/postbag"
)

// Pauser is implemented by a store in which operators hold parts of a subscription, with
// an end if they wish. Such a store fills [View.Pauses] and [Overview.Pauses]. It writes
// every pause, and every end by hand, to the audit log in the same transaction. The end of
// a pause whose time is over is not audited: its begin says when it ends.
type Pauser interface {
	// SetPause begins a pause, by a.Who for a.Why. If there is one of the same Ref, Scope
	// and Value, it takes its place, and Since stays. It ends d from now by the database's
	// clock. If d is zero, it ends at p.Until, or has no end if that is zero, too. p.Who,
	// p.Why and p.Since are not used. Relays hear of it at their next heartbeat, which is
	// soon: the epoch changes.
	//
	// Errors: those of [Pause.Validate], ErrNoSubscription, ErrPauseOver and
	// ErrTooManyPauses. Nothing is written then.
	SetPause(ctx context.Context, a Audit, p Pause, d time.Duration) error
	// EndPause ends the pause of the same Ref, Scope and Value. It says whether there was
	// one in force. If there was none, nothing is written. Relays hear of it as they hear
	// of SetPause.
	EndPause(ctx context.Context, a Audit, p Pause) (bool, error)
}

// Pause says that an operator holds a subscription, or some of its messages. It is in
// force from Since until Until by the database's clock. Nobody has to end it.
type Pause struct {
	// Ref is the subscription. It is zero for PauseDestination, which is for all
	// subscriptions of the store.
	Ref
	// Scope says what is held, and Value which one. It is empty for PauseSubscription.
	Scope PauseScope
	Value string
	// Who holds it, and Why.
	Who, Why string
	// Since is when it began. Until is its end. Zero: none.
	Since, Until time.Time
}

// PauseScope is what a pause holds.
type PauseScope string

// The scopes of pauses.
const (
	// PauseSubscription: all of a subscription. It is Operator.SetPaused with an end.
	PauseSubscription PauseScope = "subscription"
	// PauseDestination: all subscriptions whose relays call their destination by this name.
	PauseDestination PauseScope = "destination"
	// PauseTopic: the messages of a topic.
	PauseTopic PauseScope = "topic"
	// PauseType: the messages of a type, or of all types with a prefix followed by ".*".
	PauseType PauseScope = "type"
	// PauseKey: the messages with a key.
	PauseKey PauseScope = "key"
)

// PauseScopes are all scopes.
var PauseScopes = []PauseScope{PauseSubscription, PauseDestination, PauseTopic, PauseType, PauseKey}

// MaxPauses is how many pauses a store takes at a time.
const MaxPauses = 1000

// Errors of a Pauser.
var (
	// ErrPause: a pause is of nothing that can be held. The error says what is wrong.
	ErrPause = errors.New("store: the pause cannot be")
	// ErrPauseOver: a pause would end before it begins, by the database's clock.
	ErrPauseOver = errors.New("store: the end of the pause is over by the database's clock; give a later one, or none")
	// ErrTooManyPauses: more than MaxPauses would be in force.
	ErrTooManyPauses = errors.New("store: more than 1,000 pauses would be in force; end some, or pause the whole subscription")
)

// Messages says that the pause is of some messages of a subscription, and not of all.
func (p *Pause) Messages() bool {
	return p.Scope == PauseTopic || p.Scope == PauseType || p.Scope == PauseKey
}

// Same says that p and o hold the same.
func (p *Pause) Same(o *Pause) bool {
	return p.Ref == o.Ref && p.Scope == o.Scope && p.Value == o.Value
}

// Over says that the pause has ended.
func (p *Pause) Over(now time.Time) bool { return !p.Until.IsZero() && !now.Before(p.Until) }

// String names the pause as the command line does, such as "outbox/default --topic orders".
func (p *Pause) String() string {
	switch p.Scope {
	case PauseSubscription:
		return p.Ref.String()
	case PauseDestination:
		return "--destination " + p.Value
	default:
		return p.Ref.String() + " --" + string(p.Scope) + " " + p.Value
	}
}

// Validate returns what is wrong with the pause's Ref, Scope, Value and Until, which is an
// ErrPause, or nil.
func (p *Pause) Validate() error {
	if err := p.validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrPause, err)
	}
	return nil
}

func (p *Pause) validate() error {
	most := postbag.MaxName
	if p.Until.Year() > 9999 {
		return errors.New("a pause ends after the year 9999; give it no end instead")
	}
	switch p.Scope {
	case PauseSubscription:
		if p.Value != "" {
			return fmt.Errorf("a pause of a subscription has the value %q; leave it empty", p.Value)
		}
		return p.validRef()
	case PauseDestination:
		if p.Ref != (Ref{}) {
			return fmt.Errorf("a pause of a destination names the subscription %s; it is for all of the store, so leave it out", p.Ref)
		}
	case PauseKey:
		most = postbag.MaxKey
		fallthrough
	case PauseTopic, PauseType:
		if err := p.validRef(); err != nil {
			return err
		}
	default:
		return fmt.Errorf("the scope %q of a pause is unknown; use subscription, destination, topic, type or key", string(p.Scope))
	}
	return validPauseValue(p.Scope, p.Value, most)
}

func (p *Pause) validRef() error {
	if p.Box == "" || p.Subscription == "" {
		return fmt.Errorf("a pause of a %s names no subscription; give a box and a subscription", p.Scope)
	}
	return nil
}

func validPauseValue(scope PauseScope, v string, most int) error {
	switch {
	case v == "":
		return fmt.Errorf("the %s to pause is empty; name it", scope)
	case len(v) > most:
		return fmt.Errorf("the %s to pause has %d bytes; no message has one of more than %d", scope, len(v), most)
	case !utf8.ValidString(v) || strings.ContainsRune(v, 0):
		return fmt.Errorf("the %s to pause is not valid UTF-8, or has a NUL byte; no message has such a one", scope)
	}
	return nil
}

// heldByPause begins what HeldAs returns. No message that anybody publishes by hand has
// such a topic.
const heldByPause = "\x01paused "

// HeldAs is what messages that the pause holds are ParkHeld for, in place of a topic: a
// name of bounded length, made of the scope and a hash of the value.
func (p *Pause) HeldAs() string {
	sum := sha256.Sum256([]byte(p.Value))
	return heldByPause + string(p.Scope) + " " + hex.EncodeToString(sum[:16])
}

// HeldByPause says that name, of Park.Topic or HeldTopic.Topic, is that of a pause and not
// that of a topic.
func HeldByPause(name string) bool { return strings.HasPrefix(name, heldByPause) }

// Holds says that the pause is of some messages, and that m is one of them.
func (p *Pause) Holds(m *postbag.Message) bool {
	switch p.Scope {
	case PauseTopic:
		return m.Topic == p.Value
	case PauseKey:
		return m.Key == p.Value
	case PauseType:
		if prefix, ok := strings.CutSuffix(p.Value, "*"); ok && strings.HasSuffix(prefix, ".") {
			return strings.HasPrefix(m.Type, prefix)
		}
		return m.Type == p.Value
	default:
		return false
	}
}
