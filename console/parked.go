package console

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Errors are the parked messages of a box by kind of error in JSON, the largest groups first.
type Errors struct {
	// The groups.
	Groups []operations.ErrorGroup `json:"groups"`
	// How many messages of each state were read at most, the newest first. Counts are of those.
	Most int `json:"most_read"`
	// Why notes of operators are missing, if they cannot be read.
	WithoutNotes string `json:"without_notes,omitempty"`
}

// Keys are the keys of a box whose messages wait behind one in JSON, those with most of them first.
type Keys struct {
	// The keys.
	Keys []operations.BlockedKey `json:"keys"`
	// How many messages of each state were read at most, the oldest first. Counts are of those.
	Most int `json:"most_read"`
}

// Around is what is parked of the key of one message in JSON.
type Around struct {
	// Once for each subscription that has the message.
	Keys []operations.KeyAround `json:"keys"`
	// How many messages of each state were read at most.
	Most int `json:"most_read"`
}

// subscribed reads the database, and the box with the subscription that a parameter names.
func (c *console) subscribed(r *http.Request) (*database, store.Ref, error) {
	ref := store.Ref{Box: r.PathValue("box"), Subscription: r.URL.Query().Get("subscription")}
	d, err := c.database(r)
	switch {
	case err != nil:
		return nil, ref, err
	case postbag.ValidBox(ref.Box) != nil:
		return nil, ref, errNoBox
	case ref.Subscription != "" && postbag.ValidSubscription(ref.Subscription) != nil:
		return nil, ref, store.ErrNoSubscription
	}
	return d, ref, nil
}

// notesTime is how long the notes of a page of errors may take.
func notesTime(d *database) time.Duration {
	if d.replica != nil {
		return time.Second
	}
	return d.timeout
}

func (c *console) errors(r *http.Request) (v Errors, err error) {
	v.Most = operations.MostParked
	d, ref, err := c.subscribed(r)
	if err != nil {
		return v, err
	}
	err = d.asks(r.Context(), func(ctx context.Context, ops operations.Store) (err error) {
		if v.Groups, err = ops.ErrorGroups(ctx, ref); err != nil {
			return err
		}
		// Notes are of the moment, so the primary is asked. It may not have them for a role whose rights are those of before there were
		// notes. If it hangs, the page of the replica does not wait for it.
		ctx, cancel := context.WithTimeout(ctx, notesTime(d))
		defer cancel()
		if err := d.ops.AddNotes(ctx, ref, v.Groups); err != nil {
			_, text := statusOf(err)
			v.WithoutNotes = c.words(c.rights(r).reason(r.PathValue("database"), text))
		}
		return nil
	})
	return v, err
}

func (c *console) keys(r *http.Request) (v Keys, err error) {
	v.Most = operations.MostParked
	d, ref, err := c.subscribed(r)
	if err != nil {
		return v, err
	}
	err = d.asks(r.Context(), func(ctx context.Context, ops operations.Store) (err error) {
		v.Keys, err = ops.BlockedKeys(ctx, ref)
		return err
	})
	return v, err
}

func (c *console) around(r *http.Request) (v Around, err error) {
	v.Most = operations.MostAround
	d, ref, err := c.subscribed(r)
	if err != nil {
		return v, err
	}
	id, err := idOf(r.PathValue("id"))
	if err != nil {
		return v, err
	}
	err = d.asks(r.Context(), func(ctx context.Context, ops operations.Store) (err error) {
		v.Keys, err = ops.Around(ctx, ref, id)
		return err
	})
	return v, err
}

// Alike says what all messages of a group have in common: that is where to look for the cause. Empty: nothing.
func (*sheet) Alike(g operations.ErrorGroup) string {
	var all []string
	for _, one := range [][2]string{{"type", g.Type}, {"key", g.Key}, {"topic", g.Topic}} {
		if one[1] != "" {
			all = append(all, one[0]+" "+one[1])
		}
	}
	switch text := strings.Join(all, ", "); {
	case text == "":
		return ""
	case g.Messages == 1:
		return "It has " + text
	case g.AtLeast:
		return "Those that were read all have " + text
	default:
		return "All have " + text
	}
}
