package remote

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// The console names who gives a command by the token. So Who of an audit is not looked at.

// order is the form of a command.
func order(a store.Audit, do string, fields ...string) url.Values {
	v := url.Values{"do": {do}, "why": {a.Why}}
	for i := 0; i+1 < len(fields); i += 2 {
		set(v, fields[i], fields[i+1])
	}
	return v
}

// tell gives a command for a subscription.
func (c *Client) tell(ctx context.Context, r store.Ref, form url.Values) (v console.Done, err error) {
	err = c.post(ctx, &v, form, c.ofBox(r.Box, "subscriptions", r.Subscription, "commands")...)
	return v, err
}

// ofWhole refuses pauses that a console does not know.
func ofWhole(p *store.Pause) error {
	if p.Scope != store.PauseSubscription {
		return exit.Usagef("a console pauses and resumes whole subscriptions; for those of a topic, a type, a key or a destination, run it where the database can be reached")
	}
	return nil
}

// Pause holds a subscription, for d if that is not zero.
func (c *Client) Pause(ctx context.Context, a store.Audit, p store.Pause, d time.Duration) (notes []string, err error) {
	if err := ofWhole(&p); err != nil {
		return nil, err
	}
	if !p.Until.IsZero() {
		return nil, exit.Usagef("a console takes no --until; say how long the pause is, with --for")
	}
	span := ""
	if d > 0 {
		span = d.String()
	}
	v, err := c.tell(ctx, p.Ref, order(a, "pause", "for", span))
	return v.Notes, err
}

// Resume lets a subscription go on.
func (c *Client) Resume(ctx context.Context, a store.Audit, p store.Pause) error {
	if err := ofWhole(&p); err != nil {
		return err
	}
	_, err := c.tell(ctx, p.Ref, order(a, "resume"))
	return err
}

// SetShards asks for another number of shards.
func (c *Client) SetShards(ctx context.Context, a store.Audit, r store.Ref, n int) error {
	_, err := c.tell(ctx, r, order(a, "shards", "shards", strconv.Itoa(n)))
	return err
}

// Tune sets a setting, or resets one. A console takes one at a time.
func (c *Client) Tune(ctx context.Context, a store.Audit, r store.Ref, all []store.Setting, reset []string) error {
	switch {
	case len(all)+len(reset) != 1:
		return exit.Usagef("a console changes one setting at a time, and %d are given; give a command for each", len(all)+len(reset))
	case len(reset) == 1:
		_, err := c.tell(ctx, r, order(a, "reset", "setting", reset[0]))
		return err
	}
	_, err := c.tell(ctx, r, order(a, "set", "setting", all[0].Name, "value", all[0].Value))
	return err
}

// PauseOperation has an operation wait.
func (c *Client) PauseOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	return c.change(ctx, a, id, "pause")
}

// ResumeOperation ends the pause of an operation. The console works it.
func (c *Client) ResumeOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	return c.change(ctx, a, id, "resume")
}

// CancelOperation ends an operation.
func (c *Client) CancelOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	return c.change(ctx, a, id, "cancel")
}

func (c *Client) change(ctx context.Context, a store.Audit, id store.OperationID, do string) error {
	o, err := c.Operation(ctx, id)
	if err != nil {
		return err
	}
	var now operations.Operation
	return c.post(ctx, &now, order(a, do), c.ofBox(o.Box, "operations", strconv.FormatInt(int64(id), 10), "commands")...)
}
