package operations

import (
	"context"
	"errors"
	"fmt"

	"github.com/postbag/postbag/store"
)

// Store is what operations need of a store.
type Store struct {
	store.Inspector
	store.Operator
	// Editor is nil for a store that takes commands for parked messages only.
	Editor store.Editor
	// Steward is nil for a store whose subscriptions operators cannot change.
	Steward store.Steward
	// Tuner is nil for a store that keeps no settings of operators.
	Tuner store.Tuner
	// Forgetter is nil for a store that keeps no marks of consumers.
	Forgetter store.Forgetter
	// Retainer is nil for a store whose boxes do not hold their retention.
	Retainer store.Retainer
	// Replayer is nil for a store that keeps no replays.
	Replayer store.Replayer
	// Pauser is nil for a store that keeps no pauses but those of whole subscriptions.
	Pauser store.Pauser
	// Noter is nil for a store whose audit log takes lines about changes only.
	Noter store.Noter
	// Reviser is nil for a store that takes no edited messages.
	Reviser store.Reviser
	// Bookkeeper is nil for a store that keeps no long operations.
	Bookkeeper store.Bookkeeper
	// ErrorNoter is nil for a store that keeps no notes on errors.
	ErrorNoter store.ErrorNoter
	// Due is store.Store's. Nil: it is not known what is behind dead messages.
	Due func(context.Context, store.Due) ([]store.Parked, error)
}

// Of returns the operations of a store, with those that are optional as far as it has them. Its overview is that of Unfinished. The
// error names what is missing.
func Of(s store.Store) (Store, error) {
	inspector, inspects := s.(store.Inspector)
	operator, operates := s.(store.Operator)
	if !inspects || !operates {
		return Store{}, errors.New("operations: the store is no store.Inspector and store.Operator; use one of Postbag's own")
	}
	editor, _ := s.(store.Editor)
	steward, _ := s.(store.Steward)
	tuner, _ := s.(store.Tuner)
	forgetter, _ := s.(store.Forgetter)
	retainer, _ := s.(store.Retainer)
	replayer, _ := s.(store.Replayer)
	pauser, _ := s.(store.Pauser)
	noter, _ := s.(store.Noter)
	reviser, _ := s.(store.Reviser)
	bookkeeper, _ := s.(store.Bookkeeper)
	errorNoter, _ := s.(store.ErrorNoter)
	return Store{Inspector: Unfinished(inspector), Operator: operator, Editor: editor, Steward: steward, Tuner: tuner, Forgetter: forgetter, Retainer: retainer, Replayer: replayer, Pauser: pauser, Noter: noter, Reviser: reviser, Bookkeeper: bookkeeper, ErrorNoter: errorNoter, Due: s.Due}, nil
}

var (
	// ErrNotFound says that there is no such box, message or choice of messages. Nothing was changed.
	ErrNotFound = errors.New("not found")
	// ErrInvalid says that what was asked for is wrong by itself. Nothing was changed.
	ErrInvalid = errors.New("not valid")
	// ErrUnsupported says that this kind of store cannot do it. Nothing was changed.
	ErrUnsupported = errors.New("not supported by this kind of store")
)

// refusal is an error with a text of its own that is one of the errors above.
type refusal struct {
	kind error
	text string
}

func (e *refusal) Error() string { return e.text }
func (e *refusal) Unwrap() error { return e.kind }

func refusef(kind error, format string, args ...any) error {
	return &refusal{kind: kind, text: fmt.Sprintf(format, args...)}
}

// Look returns the state of the store: of all boxes, or of the one that is named. A box that is not there is ErrNotFound.
func (s Store) Look(ctx context.Context, box string) (store.Overview, error) {
	o, err := s.Overview(ctx)
	if err != nil || box == "" {
		return o, err
	}
	return OfBox(o, box)
}

// OfBox narrows the state of a store to one box. A box that is not there is ErrNotFound.
func OfBox(o store.Overview, box string) (store.Overview, error) {
	for _, b := range o.Boxes {
		if b.Name == box {
			o.Boxes = []store.BoxView{b}
			return o, nil
		}
	}
	return o, NoBox(box)
}

// NoBox is the ErrNotFound of a box.
func NoBox(box string) error {
	return refusef(ErrNotFound, "there is no box %s; make it with postbag migrate up --box", box)
}
