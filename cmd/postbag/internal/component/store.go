package component

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/adopt"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store"
)

// Store is an open store with everything that the commands need of it.
type Store struct {
	store.Store
	store.Inspector
	store.Operator
	Migrator store.SlotMigrator
	// Editor is nil for a kind of store that takes commands for parked messages only.
	Editor store.Editor
	// Steward is nil for a kind of store whose subscriptions operators cannot change.
	Steward store.Steward
	// Forgetter is nil for a kind of store that keeps no marks of consumers.
	Forgetter store.Forgetter
	// Pauser is nil for a kind of store that keeps no pauses but those of whole subscriptions.
	Pauser store.Pauser

	// Kind is its kind's name.
	Kind string
	// Publish appends messages in a transaction of its own.
	Publish func(ctx context.Context, box string, msgs []postbag.Message) error
	// Receive takes messages of a source into a box as the settings say. grace is how long
	// the last batch may take.
	Receive func(from source.Source, c config.Intake, grace time.Duration, logger *slog.Logger) (Receiver, error)
	// Positions keeps the positions of sources whose broker keeps none.
	Positions source.Positions
	// Adopt turns other programs' tables beside the boxes into boxes. Nil: this kind
	// of store has none.
	Adopt adopt.Database
	// Close frees what was opened.
	Close func() error
}

// Operations are what operators do to the store.
func (s *Store) Operations() operations.Store {
	o, _ := operations.Of(s.Store) // a store of every kind can be looked at and takes commands
	return o
}

// Schema is what operators do to the store's schema.
func (s *Store) Schema() operations.Schema {
	return operations.Schema{Migrator: s.Migrator, Inspector: s}
}

// StoreOptions are how a store is opened. The zero value opens what is there.
type StoreOptions struct {
	// Create makes the schema and Boxes when they are missing.
	Create bool
	Boxes  []string
	// Listen waits for notifications of publishers in other processes, if the
	// configuration asks for it.
	Listen bool
	// OnFault hears of what no call reports. Optional.
	OnFault func(error)
	// Slots are the rules for slots that are said of boxes: those that are made get them.
	Slots map[string]store.SlotRule
	// Partition divides the tables of new boxes, on a kind that can.
	Partition time.Duration
	// Comments are those of its statements.
	Comments store.SQLComments
	// MaxConns bounds the connections. Zero: what the configuration says.
	MaxConns int
	// MoreConns is how many connections are needed beside those.
	MoreConns int
	// Unmigrated opens a store whose schema is missing or old, for migrations
	// alone. With Create it makes the database's file where it is one.
	Unmigrated bool
}

// openTimeout bounds the opening of a store.
const openTimeout = 20 * time.Second

// DSN returns the DSN of a store, from wherever the configuration says.
func DSN(s config.Store) (string, error) {
	if s.DSN != "" {
		return s.DSN, nil
	}
	return config.FromEither(s.DSNEnv, s.DSNFile)
}

// OpenStore opens the store that a configuration names. Its errors begin with the
// flag or the setting that says which.
func OpenStore(ctx context.Context, s config.Store, o StoreOptions) (*Store, error) {
	opened, err := openStore(ctx, s, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Place(), err)
	}
	return opened, nil
}

func openStore(ctx context.Context, s config.Store, o StoreOptions) (*Store, error) {
	dsn, err := DSN(s)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	s = s.Filled()
	name, mistake := Kinds().StoreKind(s.Kind, dsn)
	if mistake != "" {
		return nil, exit.Usagef("the DSN %s", mistake)
	}
	if s.Partition != 0 && !Kinds().Partitions(name) {
		return nil, exit.Usagef("partition is not for %s; leave it out", name)
	}
	o.Partition, o.Comments, o.Slots = s.Partition, store.SQLComments{Application: s.SQLComments.Application}, s.Slots()
	o.Create = o.Create || s.Create
	o.Listen = o.Listen && s.Listen
	if o.MaxConns == 0 {
		o.MaxConns = s.MaxConns
	}
	o.MaxConns += o.MoreConns
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for _, k := range storeKinds() {
		if k.Name != name {
			continue
		}
		opened, err := k.open(ctx, dsn, o)
		if err != nil {
			return nil, openError(ctx, err)
		}
		if !o.Unmigrated { // else CreateBox looks
			err = opened.CheckSlots(ctx, s.UsedSlots())
		}
		if err != nil {
			return nil, errors.Join(err, opened.Close())
		}
		opened.Kind, opened.Inspector = name, operations.Unfinished(opened.Inspector)
		opened.Editor, _ = opened.Store.(store.Editor)
		opened.Steward, _ = opened.Store.(store.Steward)
		opened.Forgetter, _ = opened.Store.(store.Forgetter)
		opened.Pauser, _ = opened.Store.(store.Pauser)
		return opened, nil
	}
	return nil, exit.Usagef("this program holds no store of kind %s; see postbag version --components", name)
}

// CheckSlots refuses boxes that were made with another rule for slots than is said. A role
// that may not read the rules, as a producer's, goes without: who works there is told.
func (s *Store) CheckSlots(ctx context.Context, said map[string]store.SlotRule) error {
	for _, box := range slices.Sorted(maps.Keys(said)) {
		has, err := s.Migrator.SlotRule(ctx, box)
		switch {
		case errors.Is(err, store.ErrNoBox), errors.Is(err, store.ErrDenied):
		case err != nil:
			return openError(ctx, err)
		case has != said[box]:
			return exit.Usagef("boxes.%s.slots is %s, and the box was made with slots by %s, which it keeps; leave slots out, "+
				"or name another box, which postbag migrate up makes", box, said[box], has)
		}
	}
	return nil
}

// Script returns all statements that make the schema and boxes in an empty database
// of a kind, with the rules for slots of those boxes that are not by hash. It connects to
// nothing.
func Script(kind string, partition time.Duration, slots map[string]store.SlotRule, boxes []string) ([]store.Step, error) {
	if partition != 0 && !Kinds().Partitions(kind) {
		return nil, exit.Usagef("--partition is not for %s; leave it out", kind)
	}
	for _, k := range storeKinds() {
		if k.Name == kind {
			return k.script(partition, slots, boxes...)
		}
	}
	return nil, exit.Usagef("--store-kind is %q; say %s", kind, strings.Join(StoreKinds(), ", "))
}

// undivided is the script of a kind whose boxes are not divided by time.
func undivided(script func(slots map[string]store.SlotRule, boxes ...string) ([]store.Step, error)) scriptOf {
	return func(_ time.Duration, slots map[string]store.SlotRule, boxes ...string) ([]store.Step, error) {
		return script(slots, boxes...)
	}
}

func openError(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return exit.With(exit.Unavailable, fmt.Errorf("the store did not answer in %v; see that it runs and that the address is right: %w",
			openTimeout, err))
	}
	if exit.Of(err) == exit.Usage {
		return err // it says what to do
	}
	return fmt.Errorf("the store cannot be opened: %w", err)
}

// publisherOf returns what publishes through a store in a transaction of its own.
func publisherOf[Tx any](a postbag.Appender[Tx]) func(context.Context, string, []postbag.Message) error {
	return func(ctx context.Context, box string, msgs []postbag.Message) error {
		p, err := postbag.NewPublisher(a, postbag.PublisherOptions{Box: box, MaxSize: postbag.MaxPayload})
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		return p.InTx(ctx, func(ctx context.Context, tx Tx) error { return p.Publish(ctx, tx, msgs...) })
	}
}
