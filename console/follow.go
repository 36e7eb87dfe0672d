package console

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// followed is how far back a list goes that follows the newest messages. It bounds what each look costs: stores read no older ones.
const followed = 10 * time.Minute

// followsNewest says whether an address is of a list that follows the newest messages.
func followsNewest(asked *url.URL) bool { return asked.Query().Get("follow") == "true" }

// listing is a page of messages that one beat tells all who follow it.
type listing struct {
	once  sync.Once
	items []store.Item
	next  string
	err   error
	in    *reading // where it was read
}

// listing returns the one of the present beat.
func (l *live) listing(same string) *listing {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.listings[same]
	if v == nil {
		v = new(listing)
		l.listings[same] = v
	}
	return v
}

// listOf asks for one page of messages. Streams of the same list ask once in a beat, and one list after another, so that there is
// at most one before a command or a page. same is the same for the same list.
func (c *console) listOf(ctx context.Context, d *database, q store.Query, same string) ([]store.Item, string, error) {
	if !forStreams(ctx) {
		return d.list(ctx, q)
	}
	v := c.live.listing(same)
	v.once.Do(func() {
		select {
		case d.tails <- struct{}{}:
			defer func() { <-d.tails }()
			v.items, v.next, v.err = d.list(ctx, q)
			v.in = readOf(ctx, d.name)
		case <-ctx.Done():
			v.err = ctx.Err()
		}
	})
	if v.in != nil {
		noteRead(ctx, d.name, *v.in)
	}
	return v.items, v.next, v.err
}

// follow has a query ask for the newest messages alone, if the request is to follow them.
func follow(r *http.Request, q *store.Query) error {
	is, err := flag(r, "follow")
	if err != nil || !is {
		return err
	}
	switch {
	case q.Cursor != "" || q.Oldest:
		return badRequestf("what follows the newest messages begins with them; leave out cursor and oldest, or follow")
	case q.State == store.StateScheduled:
		return badRequestf("scheduled messages are not stored yet, so nothing follows them; leave out follow, or choose another state")
	}
	if since := time.Now().Add(-followed); q.After.Before(since) {
		q.After = since
	}
	if !q.Before.IsZero() && !q.After.Before(q.Before) {
		return badRequestf("before is more than ten minutes ago, so nothing is left to follow; leave out before, or follow")
	}
	return nil
}
