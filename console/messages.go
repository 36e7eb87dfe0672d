package console

import (
	"context"
	"net/http"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

const (
	// mostListed is how many messages one page has at most, and pageOf how many if nobody says.
	mostListed, pageOf = 200, 50
	// mostExported is how many messages one export has at most.
	mostExported = 100_000
)

// Messages is one page of messages in JSON, the newest first unless oldest=true. They have no payloads and no headers.
type Messages struct {
	// The messages, one for each subscription that has it.
	Messages []operations.Message `json:"messages"`
	// The cursor to go on with; none: that were all. There may be one behind an empty page: a search looks at a bounded number of rows.
	Next string `json:"next,omitempty"`
}

// list asks for one page.
func (d *database) list(ctx context.Context, q store.Query) (items []store.Item, next string, err error) {
	err = d.ask(ctx, func(ctx context.Context) (err error) {
		items, next, err = d.ops.List(ctx, q)
		return err
	})
	return items, next, late(q.ID, err)
}

func (c *console) messages(w http.ResponseWriter, r *http.Request) error {
	d, err := c.database(r)
	if err != nil {
		return err
	}
	q, err := queryOf(r)
	if err != nil {
		return err
	}
	switch format := r.URL.Query().Get("format"); format {
	case "", "json":
		return page(w, r, d, q)
	case "ndjson", "csv":
		return export(w, r, d, q, format)
	}
	return badRequestf("format is not json, ndjson or csv; write one of them")
}

func page(w http.ResponseWriter, r *http.Request, d *database, q store.Query) (err error) {
	if q.Limit, err = number(r, "limit", pageOf, mostListed); err != nil {
		return err
	}
	items, next, err := d.list(r.Context(), q)
	if err != nil {
		return err
	}
	v := Messages{Messages: make([]operations.Message, len(items)), Next: next}
	for i := range items {
		v.Messages[i] = operations.MessageOf(q.Box, &items[i], false)
	}
	return answer(w, v)
}

// Copies is one message in JSON, as each subscription has it.
type Copies struct {
	// The copies, with their latest attempts.
	Copies []operations.Message `json:"copies"`
	// Whether all subscriptions are through with it.
	Done bool `json:"done"`
}

func (c *console) message(w http.ResponseWriter, r *http.Request) error {
	payload, err := flag(r, "payload")
	if err != nil {
		return err
	}
	if payload && !c.payloads {
		return badRequestf("this console shows no payloads; start it with --payloads, or look with postbag messages show")
	}
	if payload && !c.rights(r).SeePayloads(r.PathValue("database"), r.PathValue("box")) {
		return &forbiddenError{"you may not see payloads of this box; ask an admin for payloads in the access file"}
	}
	d, err := c.database(r)
	if err != nil {
		return err
	}
	id, err := idOf(r.PathValue("id"))
	if err != nil {
		return err
	}
	ref, v := store.Ref{Box: r.PathValue("box")}, Copies{Done: true}
	if postbag.ValidBox(ref.Box) != nil {
		return errNoBox
	}
	err = d.ask(r.Context(), func(ctx context.Context) error {
		items, err := d.ops.Find(ctx, ref, id)
		for i := range items {
			v.Copies = append(v.Copies, operations.MessageOf(ref.Box, &items[i], payload))
			v.Done = v.Done && operations.Through(items[i].State)
		}
		return err
	})
	if err != nil {
		return late(id, err)
	}
	return answer(w, v)
}
