package component

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
	"github.com/postbag/postbag/store"
)

// Receiver is an inbox.Receiver of any store.
type Receiver interface {
	Run(ctx context.Context) error
	Stats() inbox.ReceiverStats
}

// receiverOf returns what takes messages of a source into a box of a store.
func receiverOf[Tx any](s inbox.Store[Tx]) func(source.Source, config.Intake, time.Duration, *slog.Logger) (Receiver, error) {
	return func(from source.Source, c config.Intake, grace time.Duration, logger *slog.Logger) (Receiver, error) {
		o := inbox.ReceiverOptions[Tx]{
			Store: s, Source: from, Box: c.Box, Consumer: c.Name, IDs: idsOf(c, from), Keys: keysOf(c, from),
			SumOff: c.Sums != nil && !*c.Sums, MaxSize: int(c.MaxSize), Messages: c.Batch, Bytes: int(c.BatchBytes),
			Grace: grace, Logger: logger,
		}
		if c.Faults == "stop" {
			o.Faults = inbox.StopOnFaults
		}
		if c.TooLarge == "head" {
			o.TooLarge = inbox.KeepHead
		}
		return inbox.NewReceiver(o)
	}
}

// positionsOf keeps positions of sources in a store.
func positionsOf[Tx any](s inbox.PositionStore[Tx]) source.Positions {
	positions, err := inbox.NewPositions(s)
	if err != nil {
		return nil // there is a store
	}
	return positions
}

// idsOf are the rules that find the id of a message.
func idsOf(c config.Intake, from source.Source) sourcekit.IDs {
	var ids sourcekit.IDs
	for _, name := range c.IDHeaders {
		ids = append(ids, sourcekit.FromHeader(name))
	}
	ids = append(ids, sourcekit.DefaultIDsFor(from.Features().Binding)...)
	if c.HashIDs {
		ids = append(ids, sourcekit.FromHash())
	}
	return ids
}

// keysOf are the rules that find the key of a message.
func keysOf(c config.Intake, from source.Source) sourcekit.Keys {
	var keys sourcekit.Keys
	if c.KeyHeader != "" {
		keys = append(keys, sourcekit.KeyHeader(c.KeyHeader))
	}
	return append(keys, sourcekit.DefaultKeys(from.Features().Binding)...)
}

// HasBox returns an error that is store.ErrNoBox if the store answers and has no such box.
// If it does not answer, HasBox returns nil: a receiver hears of that by itself.
func (s *Store) HasBox(ctx context.Context, box string) error {
	if _, _, err := s.List(ctx, store.Query{Ref: store.Ref{Box: box}, Limit: 1}); errors.Is(err, store.ErrNoBox) {
		return store.ErrNoBox
	}
	return nil
}
