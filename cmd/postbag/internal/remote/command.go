package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// most are how many messages one command is for: of more, or with a rate, it is an operation. Of pending messages it is fewer, as with a
// database.
const most, mostPending = operations.MostMatching, 100

// Preview is what a choice comes to, as the console counts it. Nothing has been changed yet.
type Preview struct {
	operations.Choice

	// First are the first of the messages, at most operations.PreviewItems.
	First []operations.Message

	size    int
	newest  postbag.ID         // of those that one command is for
	matched operations.Matched // of more
}

// Size is how many messages were chosen.
func (p *Preview) Size() int { return p.size }

// Long says whether a command for them is an operation.
func (p *Preview) Long(rate int) bool {
	return len(p.IDs) == 0 && (p.newest.IsZero() || p.size > 1 && rate > 0)
}

// Preview looks the messages of a choice up.
func (c *Client) Preview(ctx context.Context, k operations.Choice) (*Preview, error) {
	if err := k.Check(); err != nil {
		return nil, err
	}
	if !c.about.Commands {
		return nil, exit.With(exit.Failed, errorf("this console takes no commands; have it started with --commands, or run it where the database can be reached"))
	}
	p := &Preview{Choice: k}
	if len(k.IDs) > 0 {
		return p, c.byID(ctx, p)
	}
	if n := len(k.Query.AllTypes()); n > 1 {
		return nil, exit.Usagef("--type is given %d times, and a console takes one for a command; give a command for each, or a prefix and .*", n)
	}
	if p.Query.State == "" {
		p.Query.State = store.StateDead
	}
	if p.Query.Ref = p.Ref; p.Only == store.StateScheduled { // they are for all subscriptions
		p.Query.Subscription = ""
	}
	if err := c.count(ctx, p); err != nil {
		return nil, err
	}
	if p.size == 0 {
		return nil, operations.NoneMatches(p.Query.State, p.Ref)
	}
	q := p.Query
	q.Oldest = true
	_, err := c.Messages(ctx, q, operations.PreviewItems, func(page []operations.Message) error {
		p.First = append(p.First, page...)
		return nil
	})
	return p, err
}

// count counts what a query selects, and asks again for the newest where one command is for all of it.
func (c *Client) count(ctx context.Context, p *Preview) error {
	if err := c.get(ctx, &p.matched, queryOf(&p.Query), c.ofBox(p.Box, "operations", "preview")...); err != nil {
		return err
	}
	if p.matched.AtLeast {
		return exit.Usagef("more than %d messages match, or too many to count; narrow them, such as with --before, or run it where the database can be reached", p.matched.Messages)
	}
	bound := most
	if p.Query.State == store.StatePending {
		bound = mostPending
	}
	if p.size = p.matched.Messages; p.size == 0 || p.size > bound {
		return nil
	}
	query := queryOf(&p.Query)
	query.Set("count", "true")
	query.Set("limit", "1")
	var few console.Messages
	switch err := c.get(ctx, &few, query, c.ofBox(p.Box, "messages")...); {
	case errors.Is(err, operations.ErrInvalid):
		return nil // too much lies before those that match, and an operation finds them
	case err != nil:
		return err
	}
	if few.Matching != nil && !few.Matching.AtLeast && few.Matching.Messages <= bound {
		p.size, p.newest = few.Matching.Messages, few.Matching.Newest
	}
	return nil
}

// byID looks up the messages that ids name.
func (c *Client) byID(ctx context.Context, p *Preview) error {
	for _, id := range p.IDs {
		var v console.Copies
		if err := c.get(ctx, &v, nil, c.ofBox(p.Box, "messages", id.String())...); err != nil {
			if exit.Of(err) == exit.NotFound && !isBox(err) {
				err = operations.HasNot(p.Ref, id)
			}
			return err
		}
		at := slices.IndexFunc(v.Copies, func(m operations.Message) bool {
			return m.Subscription == p.Subscription || m.State == store.StateScheduled
		})
		if at < 0 {
			return operations.HasNot(p.Ref, id)
		}
		if err := p.Fits(id, v.Copies[at].State); err != nil {
			return err
		}
		v.Copies[at].History = nil // a listing has none
		p.size++
		if len(p.First) < operations.PreviewItems {
			p.First = append(p.First, v.Copies[at])
		}
	}
	return nil
}

// Give gives a command for the messages of a preview that needs no operation. progress hears of each step.
func (c *Client) Give(ctx context.Context, p *Preview, a store.Audit, progress func(operations.Progress)) (operations.Progress, error) {
	at := operations.Progress{Chosen: p.size}
	do := operations.CommandName(p.Kind)
	if len(p.IDs) == 0 {
		form := order(a, do)
		p.fill(form)
		form.Set("messages", strconv.Itoa(p.size))
		form.Set("newest", p.newest.String())
		v, err := c.done(ctx, form, p.Box, "messages", "commands")
		if err == nil {
			at.Handled, at.Queued, at.Done = p.size, v.Queued, v.Changed
			progress(at)
		}
		return at, err
	}
	for _, id := range p.IDs {
		form := order(a, do, "subscription", p.Subscription, "state", string(p.Only))
		v, err := c.done(ctx, form, p.Box, "messages", id.String(), "commands")
		if err != nil {
			if n := at.Queued + at.Done; n > 0 {
				err = fmt.Errorf("%d of %d messages have the command; give it again for the rest: %w", n, at.Chosen, err)
			}
			return at, err
		}
		at.Handled, at.Queued, at.Done = at.Handled+1, at.Queued+v.Queued, at.Done+v.Changed
		progress(at)
	}
	return at, nil
}

func (c *Client) done(ctx context.Context, form url.Values, box string, path ...string) (v console.Done, err error) {
	err = c.post(ctx, &v, form, c.ofBox(box, path...)...)
	return v, err
}

// fill adds what a preview selects by to a form.
func (p *Preview) fill(form url.Values) {
	maps.Copy(form, queryOf(&p.Query))
}

// Begin begins an operation for the messages of a preview, which the console works.
func (c *Client) Begin(ctx context.Context, p *Preview, a store.Audit, rate int) (store.OperationID, error) {
	form := order(a, operations.CommandName(p.Kind))
	p.fill(form)
	n := strconv.Itoa(p.matched.Messages)
	for name, text := range map[string]string{"messages": n, "confirm": n, "as_of": p.matched.AsOf.Format(time.RFC3339Nano)} {
		form.Set(name, text)
	}
	if rate > 0 {
		form.Set("rate", strconv.Itoa(rate))
	}
	var v console.Begun
	err := c.post(ctx, &v, form, c.ofBox(p.Box, "operations", "commands")...)
	return v.Operation, err
}
