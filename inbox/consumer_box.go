package inbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/postbag/postbag"
)

// errUndo rolls a transaction back that was only to see what the store says.
var errUndo = errors.New("inbox: undo")

// canPark waits until the store works, and ends Run if it does not have the box. It returns
// false then, and if ctx ends. What else keeps the box from being written to may pass, or
// concern no message that comes: it is told, and no more.
func (c *Consumer[Tx]) canPark(ctx context.Context) bool {
	if c.o.Box == "" {
		return true
	}
	for again := false; ctx.Err() == nil; {
		err := c.tryBox(ctx)
		switch {
		case errors.Is(err, errUndo):
			c.db.over()
			return true
		case errors.Is(err, postbag.ErrNoBox):
			c.end(fmt.Errorf("inbox: consume: ConsumerOptions.Box, where messages are parked, is %q: %w", c.o.Box, err))
			return false
		}
		err = fmt.Errorf("inbox: consume: try box %q: %w", c.o.Box, err)
		works := ctx.Err() == nil && c.probe(ctx) == nil
		if works && !again { // an outage may have ended just now
			again = true
			continue
		}
		if works {
			c.db.over()
			c.log.Warn("messages can perhaps not be parked", "box", c.o.Box, "error", err)
			c.o.OnError(err)
			return true
		}
		again = false
		c.db.met(ctx, err)
	}
	return false
}

// tryBox writes a message into the box, and rolls it back: the error is errUndo if the store
// took it.
func (c *Consumer[Tx]) tryBox(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxProbe)
	defer cancel()
	return c.o.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		err := c.o.Store.Append(ctx, tx, c.o.Box, []postbag.Message{{ID: postbag.NewID(), Topic: c.o.Box}})
		if err != nil {
			return err
		}
		return errUndo
	})
}
