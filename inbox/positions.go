package inbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store"
)

// PositionStore is what [Positions] need of a store: transactions, and rows of lanes in
// them. All of Postbag's stores have it, and their appenders.
type PositionStore[Tx any] interface {
	// InTx runs fn in a transaction, as that of postbag.Appender.
	InTx(ctx context.Context, fn func(context.Context, Tx) error) error
	store.Lanes[Tx]
}

// Positions keeps the positions of sources in a store, in the table of its lanes
// (store.Lanes). It is a source.Positions. Keep them in the database that has the marks: then
// a backup that is played back has both, and what is behind the position comes again. It is
// safe for concurrent use. Make it with [NewPositions].
type Positions[Tx any] struct{ store PositionStore[Tx] }

// NewPositions returns positions that are kept in s. It does no I/O. A nil s is an error.
func NewPositions[Tx any](s PositionStore[Tx]) (*Positions[Tx], error) {
	if isNil(s) {
		return nil, errors.New("inbox: positions need a store to be kept in; give one to NewPositions")
	}
	return &Positions[Tx]{store: s}, nil
}

// OpenPosition implements source.Positions.
func (p *Positions[Tx]) OpenPosition(ctx context.Context, name string) (epoch int64, record []byte, err error) {
	if err := positionName(name); err != nil {
		return 0, nil, err
	}
	var now store.LaneState
	err = p.store.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
		now, err = p.store.OpenLane(ctx, tx, name)
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("inbox: open position %q: %w", name, err)
	}
	return now.Epoch, now.Record, nil
}

// KeepPosition implements source.Positions.
func (p *Positions[Tx]) KeepPosition(ctx context.Context, name string, epoch int64, record []byte) (ours bool, err error) {
	if err := positionName(name); err != nil {
		return false, err
	}
	if n := len(record); n == 0 || n > maxPosition {
		return false, fmt.Errorf("inbox: keep position %q: its record has %d bytes; give it 1 to %d", name, n, maxPosition)
	}
	err = p.store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		return p.store.WriteLane(ctx, tx, name, epoch, record)
	})
	switch {
	case errors.Is(err, store.ErrFenced):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("inbox: keep position %q: %w", name, err)
	}
	return true, nil
}

// maxPosition is the largest record of a position, in bytes.
const maxPosition = 1024

func positionName(name string) error {
	if n := len(name); n == 0 || n > store.MaxLane {
		return fmt.Errorf("inbox: the name of a position has %d bytes; give it 1 to %d", n, store.MaxLane)
	}
	return nil
}

var _ source.Positions = (*Positions[int])(nil)
