package remote

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// pageSize is how many messages one question asks for at most: as many as with a database.
const pageSize = 500

// MaxAuditLines is how much of the audit log a console shows.
const MaxAuditLines = 1000

// Status returns the state of the database, or of one box.
func (c *Client) Status(ctx context.Context, box string) (*operations.Status, error) {
	return c.status(ctx, box, nil)
}

// Watch returns what looks again and again, with rates where the console has them.
func (c *Client) Watch(box string) func(context.Context) (*operations.Status, error) {
	return func(ctx context.Context) (*operations.Status, error) {
		return c.status(ctx, box, url.Values{"rates": {"true"}})
	}
}

func (c *Client) status(ctx context.Context, box string, query url.Values) (*operations.Status, error) {
	v := new(operations.Status)
	if err := c.get(ctx, v, query, c.ofBox(box, "status")...); err != nil {
		return nil, noBox(box, err)
	}
	return v, nil
}

// noBox says of a box that is not there what a look into a database says.
func noBox(box string, err error) error {
	if errors.Is(err, store.ErrNoBox) {
		return operations.NoBox(box)
	}
	return err
}

// Subscriptions returns the subscriptions of the database, or of one box.
func (c *Client) Subscriptions(ctx context.Context, box string) (*operations.SubscriptionList, error) {
	v := new(operations.SubscriptionList)
	if err := c.get(ctx, v, nil, c.ofBox(box, "subscriptions")...); err != nil {
		return nil, noBox(box, err)
	}
	return v, nil
}

// Subscription returns a subscription, and the settings that the store keeps of it.
func (c *Client) Subscription(ctx context.Context, r store.Ref) (*operations.SubscriptionDetail, []operations.Setting, error) {
	var v console.SubscriptionState
	if err := c.get(ctx, &v, nil, c.ofBox(r.Box, "subscriptions", r.Subscription)...); err != nil {
		return nil, nil, noBox(r.Box, err)
	}
	if v.Detail == nil {
		return nil, nil, c.foreign("it says nothing of the subscription")
	}
	return v.Detail, v.Settings, nil
}

// Messages shows the messages that match q, page by page, as operations.Store.Each does. They have no payloads.
func (c *Client) Messages(ctx context.Context, q store.Query, limit int, see func([]operations.Message) error) (operations.Listing, error) {
	var l operations.Listing
	for {
		n := pageSize
		if limit > 0 {
			n = min(n, limit-l.Shown)
		}
		page, err := c.page(ctx, &q, n)
		if err != nil {
			return l, err
		}
		if err := see(page.Messages); err != nil {
			return l, err
		}
		l.Shown += len(page.Messages)
		l.Next, q.Cursor = page.Next, page.Next
		if page.Next == "" || limit > 0 && l.Shown >= limit {
			return l, nil
		}
	}
}

func (c *Client) page(ctx context.Context, q *store.Query, n int) (v console.Messages, err error) {
	query := queryOf(q)
	query.Set("limit", strconv.Itoa(n))
	if q.Oldest {
		query.Set("oldest", "true")
	}
	set(query, "cursor", q.Cursor)
	err = c.get(ctx, &v, query, c.ofBox(q.Box, "messages")...)
	return v, err
}

// queryOf is a query as parameters, without its sequence and where it goes on.
func queryOf(q *store.Query) url.Values {
	v := url.Values{}
	for _, one := range [][2]string{
		{"subscription", q.Subscription},
		{"state", string(q.State)},
		{"topic", q.Topic},
		{"key", q.Key},
		{"error", q.Error},
		{"after", timeText(q.After)},
		{"before", timeText(q.Before)},
	} {
		set(v, one[0], one[1])
	}
	if !q.ID.IsZero() {
		v.Set("id", q.ID.String())
	}
	if types := q.AllTypes(); len(types) > 0 {
		v["type"] = types
	}
	return v
}

func set(v url.Values, name, text string) {
	if text != "" {
		v.Set(name, text)
	}
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Message returns a message as each subscription has it, or as the one does that is named. If you may not see payload and headers, hidden
// says why they are not there; so it does if rules of the console hide a part of them.
func (c *Client) Message(ctx context.Context, r store.Ref, id postbag.ID) (all []operations.Message, hidden []string, err error) {
	var v console.Copies
	path := c.ofBox(r.Box, "messages", id.String())
	err = c.get(ctx, &v, url.Values{"payload": {"base64"}}, path...)
	if errors.Is(err, errPayloads) {
		hidden = append(hidden, "payload and headers: "+err.Error())
		err = c.get(ctx, &v, nil, path...)
	}
	if err != nil {
		return nil, nil, err
	}
	for i := range v.Copies {
		m := &v.Copies[i]
		if r.Subscription != "" && m.Subscription != "" && m.Subscription != r.Subscription {
			continue
		}
		if err := operations.Compact(m); err != nil {
			return nil, nil, c.foreign("a payload is no base64")
		}
		all = append(all, *m)
	}
	if len(all) == 0 {
		s, err := c.Status(ctx, r.Box)
		if err != nil {
			return nil, nil, err
		}
		return nil, nil, operations.NoMessage(r.Box, id, s.Unread())
	}
	return all, append(hidden, v.Hidden...), nil
}

// AuditLog returns the latest lines of the audit log.
func (c *Client) AuditLog(ctx context.Context, limit int) ([]operations.AuditLine, error) {
	var v console.Audit
	err := c.get(ctx, &v, url.Values{"limit": {strconv.Itoa(limit)}}, c.of("audit")...)
	return v.Lines, err
}

// Replays returns the replays of all boxes, or of one.
func (c *Client) Replays(ctx context.Context, box string) ([]operations.Replay, error) {
	all := []operations.Replay{}
	s, err := c.Status(ctx, box)
	if err != nil {
		return nil, err
	}
	for i := range s.Boxes {
		var v console.Replays
		if err := c.get(ctx, &v, nil, c.ofBox(s.Boxes[i].Name, "replays")...); err != nil {
			return nil, err
		}
		all = append(all, v.Replays...)
	}
	return all, nil
}

// Operations returns the latest long operations, the newest first.
func (c *Client) Operations(ctx context.Context, limit int) ([]operations.Operation, error) {
	if err := operations.ValidOperationList(limit); err != nil {
		return nil, err
	}
	var v console.Operations
	err := c.get(ctx, &v, url.Values{"limit": {strconv.Itoa(limit)}}, c.of("operations")...)
	return v.Operations, err
}

// Operation returns a long operation.
func (c *Client) Operation(ctx context.Context, id store.OperationID) (v operations.Operation, err error) {
	err = c.get(ctx, &v, nil, c.of("operations", strconv.FormatInt(int64(id), 10))...)
	return v, err
}
