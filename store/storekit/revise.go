package storekit

import (
	"context"
	"strings"

	"github.com/postbag/postbag"
)

// Revise publishes an edited message in a transaction, in which note writes what it is given to the audit log; see [store.Reviser].
func Revise[Tx any](ctx context.Context, to postbag.Appender[Tx], box string, of postbag.ID, m postbag.Message, note func(context.Context, Tx, string) error) error {
	p, err := postbag.NewPublisher(to, postbag.PublisherOptions{Box: box, MaxSize: postbag.MaxPayload})
	if err != nil {
		return err
	}
	return p.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if err := p.Publish(ctx, tx, m); err != nil {
			return err
		}
		return note(ctx, tx, "edit "+box+" "+of.String()+" as "+m.ID.String())
	})
}

// Revised reads what of a line of the audit log Revise wrote: the id of the message that one of a box was edited from, and its own.
func Revised(what, box string) (of, as postbag.ID, ok bool) {
	words := strings.Fields(what)
	if len(words) != 5 || words[0] != "edit" || words[1] != box || words[3] != "as" {
		return of, as, false
	}
	of, wrong := postbag.ParseID(words[2])
	as, wrongToo := postbag.ParseID(words[4])
	return of, as, wrong == nil && wrongToo == nil
}
