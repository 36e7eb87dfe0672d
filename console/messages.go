package console

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

const (
	// mostListed is how many messages one page has at most, and pageOf how many if nobody says.
	mostListed, pageOf = 500, 50
	// mostExported is how many messages one export has at most.
	mostExported = 100_000
)

// Messages is one page of messages in JSON, the newest first unless oldest=true. They have no payloads and no headers.
type Messages struct {
	// The messages, one for each subscription that has it.
	Messages []operations.Message `json:"messages"`
	// The cursor to go on with; none: that were all. There may be one behind an empty page: a search looks at a bounded number of rows.
	Next string `json:"next,omitempty"`
	// What all that match come to, with count=true: at most 500 of them are counted.
	Matching *operations.Matching `json:"matching,omitempty"`
}

// list asks for one page.
func (d *database) list(ctx context.Context, q store.Query) (items []store.Item, next string, err error) {
	gate := d.places
	if searches(&q) {
		gate = d.searches
	}
	err = d.asksAt(ctx, gate, func(ctx context.Context, ops operations.Store) (err error) {
		items, next, err = ops.List(ctx, q)
		return err
	})
	return items, next, late(q.ID, err)
}

// searches says whether a store may look at many more messages than the page has.
func searches(q *store.Query) bool {
	return q.ID != (postbag.ID{}) || q.Topic != "" || q.Key != "" || len(q.AllTypes()) > 0 || q.Error != "" ||
		!q.After.IsZero() || !q.Before.IsZero() || q.State == store.StateFiltered || q.State == store.StateSuperseded
}

// messages answers with one page, or with an export.
func (c *console) messages(w http.ResponseWriter, r *http.Request) error {
	switch format := r.URL.Query().Get("format"); format {
	case "", "json":
		v, err := c.listed(r)
		if err != nil {
			return err
		}
		sayRead(w, r)
		return answer(w, v)
	case "ndjson", "csv":
		d, q, err := c.query(r)
		if err != nil {
			return err
		}
		if r.URL.Query().Has("follow") {
			return badRequestf("an export ends, so it follows nothing; leave out follow, or stream /api/v1/events")
		}
		return export(w, r, d, q, format)
	}
	return badRequestf("format is not json, ndjson or csv; write one of them")
}

// query reads which messages of which database a request is about.
func (c *console) query(r *http.Request) (*database, store.Query, error) {
	d, err := c.database(r)
	if err != nil {
		return nil, store.Query{}, err
	}
	q, err := queryOf(r)
	return d, q, err
}

// listed returns one page.
func (c *console) listed(r *http.Request) (v Messages, err error) {
	d, q, err := c.query(r)
	if err != nil {
		return v, err
	}
	same := fmt.Sprintf("%s %+v %q", d.name, q, r.URL.Query().Get("limit"))
	if err = follow(r, &q); err != nil {
		return v, err
	}
	if q.Limit, err = limitOf(r, pageOf, mostListed); err != nil {
		return v, err
	}
	if err := columnsOf(r); err != nil {
		return v, err
	}
	items, next, err := c.listOf(r.Context(), d, q, same)
	if err != nil {
		return v, err
	}
	v = Messages{Messages: make([]operations.Message, len(items)), Next: next}
	if v.Matching, err = c.counted(r, d, q); err != nil {
		return v, err
	}
	for i := range items {
		v.Messages[i] = operations.MessageOf(q.Box, &items[i], false)
	}
	return v, nil
}

// Copies is one message in JSON, as each subscription has it.
type Copies struct {
	// The copies, with their latest attempts.
	Copies []operations.Message `json:"copies"`
	// Whether all subscriptions are through with it.
	Done bool `json:"done"`
	// What the console's rules hide of headers and payload, in words. Each hidden value is ***.
	Hidden []string `json:"hidden,omitempty"`
	// The messages that operators published in its place, the latest first, as far as the latest 1,000 lines of the audit log have them.
	EditedAs []postbag.ID `json:"edited_as,omitempty"`
}

// ID is the message's.
func (v Copies) ID() string { return v.First().ID.String() }

// First is the first copy: all have the same content. There is one.
func (v Copies) First() operations.Message { return v.Copies[0] }

// asksPayload says whether payload and headers are asked for, and whether byte by byte. Those who may not see them are refused.
func (c *console) asksPayload(r *http.Request) (asked, exact bool, err error) {
	if exact = r.URL.Query().Get("payload") == "base64"; !exact {
		asked, err = flag(r, "payload")
	}
	if asked || exact {
		asked, err = true, c.seesPayloads(r)
	}
	return asked, exact, err
}

func (c *console) message(r *http.Request) (Copies, error) {
	v := Copies{Done: true}
	payload, exact, err := c.asksPayload(r)
	if err != nil {
		return v, err
	}
	d, err := c.database(r)
	if err != nil {
		return v, err
	}
	id, err := idOf(r.PathValue("id"))
	if err != nil {
		return v, err
	}
	ref := store.Ref{Box: r.PathValue("box")}
	if postbag.ValidBox(ref.Box) != nil {
		return v, errNoBox
	}
	var items []store.Item
	err = d.asks(r.Context(), func(ctx context.Context, ops operations.Store) (err error) {
		if items, err = ops.Find(ctx, ref, id); err != nil {
			return err
		}
		if v.EditedAs, err = ops.EditedAs(ctx, ref.Box, id); errors.Is(err, store.ErrDenied) { // a role that does not read the audit log
			err = nil
		}
		return err
	})
	if err == nil && payload { // the audit log is the primary's
		err = d.ask(r.Context(), func(ctx context.Context) error { return c.noteLook(ctx, r, d.ops, ref.Box, items) })
	}
	if err != nil {
		return v, late(id, err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), d.timeout)
	defer cancel()
	err = c.addTo(ctx, &v, ref.Box, items, payload)
	if err == nil && exact {
		err = v.encode()
	}
	return v, err
}

// encode puts payloads as base64: in JSON that is escaped for HTML, nothing else says byte by byte what a payload is.
func (v Copies) encode() error {
	for i := range v.Copies {
		m := &v.Copies[i]
		data, err := m.Body.Bytes()
		if err != nil {
			return err
		}
		if m.Body.Payload = nil; len(data) > 0 {
			text := base64.StdEncoding.EncodeToString(data)
			m.Base64 = &text
		}
	}
	return nil
}

// addTo adds the copies of a message. Those of one seq have the same content, which is looked at once.
func (c *console) addTo(ctx context.Context, v *Copies, box string, items []store.Item, payload bool) error {
	var first operations.Message
	for i := range items {
		it := &items[i]
		v.Done = v.Done && operations.Through(it.State)
		if i > 0 && it.Seq == items[i-1].Seq {
			m := operations.MessageOf(box, it, false)
			m.Body, m.Headers, m.Bytes = first.Body, first.Headers, first.Bytes
			v.Copies = append(v.Copies, m)
			continue
		}
		m, hidden, err := c.messageOf(ctx, box, it, payload)
		if err != nil {
			return err
		}
		first, v.Copies = m, append(v.Copies, m)
		for _, what := range hidden {
			if !slices.Contains(v.Hidden, what) {
				v.Hidden = append(v.Hidden, what)
			}
		}
	}
	return nil
}
