package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Edited is what an edited message was published as, in JSON.
type Edited struct {
	// The id of the new message.
	ID postbag.ID `json:"id"`
}

// largestEdit is the size of the largest form of an edited message, in bytes: a byte takes three of them at worst.
const largestEdit = 3*(operations.MostEdited+postbag.MaxHeader) + largestForm

var editForm = []parameter{
	{"payload", "The payload of the new message, as text. A line end is as the form has it, without a carriage return."},
	{"as", "The id of the new message. Sent twice, it names one message: who applies each id once applies one. Empty: the console draws one."},
	{"headers", "The headers of the new message as a JSON object of texts. Empty: none."},
	why,
}

// onEdit publishes a message again as a new one, edited.
func (c *console) onEdit(r *http.Request) (v Edited, err error) {
	f, err := readForm(r, editForm, largestEdit)
	if err != nil {
		return v, err
	}
	id, err := idOf(r.PathValue("id"))
	if err != nil {
		return v, err
	}
	e := operations.Edit{Payload: []byte(strings.ReplaceAll(f.Get("payload"), "\r\n", "\n"))} // a browser writes line ends so
	if text := f.Get("as"); text != "" {
		if e.As, err = idOf(text); err != nil {
			return v, err
		}
	}
	if text := strings.TrimSpace(f.Get("headers")); text != "" {
		if err := json.Unmarshal([]byte(text), &e.Headers); err != nil {
			return v, badRequestf(`headers is no JSON object of texts; write it as {"name": "value"}`)
		}
	}
	a, err := c.signed(r, f)
	if err != nil {
		return v, err
	}
	if err := c.seesPayloads(r); err != nil {
		return v, err
	}
	if !c.edits {
		return v, &forbiddenError{"this console takes no edited messages; set edits: true in its file, or use postbag publish"}
	}
	err = c.change(r, func(ctx context.Context, ops operations.Store) (err error) {
		if err := c.hidesNothing(ctx, ops, r.PathValue("box"), id); err != nil {
			return err
		}
		v.ID, err = ops.Edit(ctx, a, r.PathValue("box"), id, e)
		return err
	})
	if errors.Is(err, store.ErrDenied) {
		err = fmt.Errorf("%w; to edit, it needs more: print them with --edits", err)
	}
	return v, late(id, err)
}

// asEdit publishes an edited message, and sends the browser to its page.
func asEdit(c *console, w http.ResponseWriter, r *http.Request) error {
	v, err := c.onEdit(r)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "../"+v.ID.String())
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// hidesNothing refuses a message of which the rules hide something: *** would be published in its place.
func (c *console) hidesNothing(ctx context.Context, ops operations.Store, box string, id postbag.ID) error {
	items, err := ops.Find(ctx, store.Ref{Box: box}, id)
	if err != nil {
		return err
	}
	_, hidden, err := c.messageOf(ctx, box, &items[0], true)
	if err != nil {
		return err
	}
	if len(hidden) > 0 {
		return badRequestf("the rules of this console hide %s of the message, so it cannot be edited here; use postbag publish", strings.Join(hidden, " and "))
	}
	return nil
}

// seesPayloads refuses those who may not see payloads and headers of the box that the path names.
func (c *console) seesPayloads(r *http.Request) error {
	if !c.payloads {
		return &payloadsError{badRequestf("this console shows no payloads; start it with --payloads, or look with postbag messages show")}
	}
	if !c.rights(r).SeePayloads(r.PathValue("database"), r.PathValue("box")) {
		return &payloadsError{&forbiddenError{"you may not see payloads of this box; ask an admin for payloads in the access file"}}
	}
	return nil
}

// editable is the form in which a message is edited.
type editable struct {
	Payload, Headers string
	// As is the id of the new message.
	As postbag.ID
	// Refused says why there is none. Empty: there is one.
	Refused string
}

// Edit is the form of a message. Nil: the one who looks may not edit it.
func (s *sheet) Edit(m operations.Message) *editable {
	if !s.console.edits || !s.Commands || !s.Payloads {
		return nil
	}
	if m.State == store.StateScheduled {
		return &editable{Refused: "it is not sent yet: cancel it, and publish another"}
	}
	data, err := m.Body.Bytes()
	if err != nil {
		return nil
	}
	if refused := operations.NotEditable(data); refused != "" {
		return &editable{Refused: refused}
	}
	v := &editable{Payload: string(data), As: postbag.NewID()}
	if own := operations.EditableHeaders(m.Headers); len(own) > 0 {
		headers, err := json.MarshalIndent(own, "", "  ")
		if err != nil { // texts cannot fail
			return nil
		}
		v.Headers = string(headers)
	}
	return v
}
