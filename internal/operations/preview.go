package operations

import (
	"context"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Preview is what a choice comes to. Nothing has been changed yet.
type Preview struct {
	Choice

	// First are the first of the messages, at most PreviewItems, for people to look at.
	First []store.Item

	seqs []int64
	ids  []postbag.ID         // of seqs, if the store keeps long operations
	asOf time.Time            // the database's time before the messages were looked up
	keep bool                 // ids
	idOf map[int64]postbag.ID // of a choice with ids
	// scheduled messages have no seq, and belong to no subscription yet.
	scheduled []postbag.ID
}

// PreviewItems is how many messages a preview keeps to be shown.
const PreviewItems = 20

// pageSize is how many messages a preview or a listing asks for at a time.
const pageSize = 500

// Size is how many messages were chosen.
func (p *Preview) Size() int { return len(p.seqs) + len(p.scheduled) }

// Preview looks the messages of a choice up. A choice that finds nothing, and a message that does not take the command, is
// ErrNotFound; a choice that this store takes no command for is ErrUnsupported, and one that Check refuses ErrInvalid.
func (s Store) Preview(ctx context.Context, c Choice) (*Preview, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(c.IDs) == 0 && c.Query.State == "" {
		c.Query.State = store.StateDead
	}
	if state := c.Query.State; s.Editor == nil && (state == store.StatePending || state == store.StateScheduled) {
		return nil, refusef(ErrUnsupported, "the state is %s, and this kind of store takes commands for parked messages only; nothing was done", state)
	}
	var asOf time.Time
	if s.Bookkeeper != nil {
		var err error
		if asOf, err = s.Bookkeeper.Clock(ctx); err != nil {
			return nil, err
		}
	}
	p := &Preview{Choice: c, asOf: asOf, keep: s.Bookkeeper != nil && len(c.IDs) == 0, idOf: make(map[int64]postbag.ID, len(c.IDs))}
	find := s.byQuery
	if len(c.IDs) > 0 {
		find = s.byID
	}
	if err := find(ctx, p); err != nil {
		return nil, err
	}
	if p.Size() == 0 {
		return nil, NoneMatches(c.Query.State, c.Ref)
	}
	return p, nil
}

// NoneMatches is the ErrNotFound of a choice that finds nothing.
func NoneMatches(state store.State, of store.Ref) error {
	what := "message that takes the command"
	if state != "" {
		what = string(state) + " message"
	}
	return refusef(ErrNotFound, "no %s of %s matches; look with postbag messages list, and choose another state with --state", what, of)
}

// HasNot is the ErrNotFound of a message that a choice names.
func HasNot(of store.Ref, id postbag.ID) error {
	return refusef(ErrNotFound, "%s has no message %s; nothing was done", of, id)
}

// Fits says why a message that a choice names by its id does not take the command in its state; nil: it does.
func (c *Choice) Fits(id postbag.ID, state store.State) error {
	return c.fits(id, state, CommandStates(c.Kind), "messages that are not settled take it")
}

func (c *Choice) fits(id postbag.ID, state store.State, allowed []store.State, which string) error {
	if c.Kind == store.Retry && state == store.StatePending && c.Only == "" {
		return refusef(ErrInvalid, "message %s of %s is pending; %s; nothing was done", id, c.Ref, noRetryOfPending)
	}
	if c.Only != "" && state != c.Only {
		return refusef(ErrNotFound, "message %s of %s is %s, and this command is for %s messages; nothing was done", id, c.Ref, state, c.Only)
	}
	if !slices.Contains(allowed, state) {
		return refusef(ErrNotFound, "message %s of %s is %s, and only %s; nothing was done", id, c.Ref, state, which)
	}
	return nil
}

func (s Store) byID(ctx context.Context, p *Preview) error {
	allowed, which := ParkedStates(), "parked messages take it"
	if s.Editor != nil {
		allowed, which = CommandStates(p.Kind), "messages that are not settled take it"
	}
	for _, id := range p.IDs {
		items, err := s.Show(ctx, p.Box, id)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(items, func(i store.Item) bool {
			return i.Subscription == p.Subscription || i.State == store.StateScheduled
		})
		if at < 0 {
			return HasNot(p.Ref, id)
		}
		if err := p.fits(id, items[at].State, allowed, which); err != nil {
			return err
		}
		p.add(&items[at])
	}
	return nil
}

func (s Store) byQuery(ctx context.Context, p *Preview) error {
	q := p.Query
	q.Ref, q.Oldest, q.Bare, q.Limit = p.Ref, true, true, pageSize
	if p.Only == store.StateScheduled { // they are for all subscriptions, and none need be there
		q.Subscription = ""
	}
	for {
		items, next, err := s.List(ctx, q)
		if err != nil {
			return err
		}
		for i := range items {
			p.add(&items[i])
		}
		if next == "" {
			return nil
		}
		q.Cursor = next
	}
}

func (p *Preview) add(item *store.Item) {
	if item.State == store.StateScheduled {
		p.scheduled = append(p.scheduled, item.ID)
	} else {
		p.seqs = append(p.seqs, item.Seq)
		if p.keep {
			p.ids = append(p.ids, item.ID)
		}
		if len(p.IDs) > 0 {
			p.idOf[item.Seq] = item.ID
		}
	}
	if len(p.First) < PreviewItems {
		p.First = append(p.First, *item)
	}
}

// messages are those of the preview as a long operation has them.
func (p *Preview) messages() []store.OperationMessage {
	out := make([]store.OperationMessage, 0, p.Size())
	for i, seq := range p.seqs {
		out = append(out, store.OperationMessage{Seq: seq, ID: p.ids[i]})
	}
	for _, id := range p.scheduled {
		out = append(out, store.OperationMessage{ID: id})
	}
	return out
}
