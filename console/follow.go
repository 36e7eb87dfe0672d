package console

import (
	"net/http"
	"time"

	"github.com/postbag/postbag/store"
)

// followed is how far back a list goes that follows the newest messages. It bounds what each look costs: stores read no older ones.
const followed = 10 * time.Minute

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
