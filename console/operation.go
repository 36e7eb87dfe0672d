package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Operations are the latest long operations of a database, or of a box, in JSON, the newest first.
type Operations struct {
	// The operations.
	Operations []operations.Operation `json:"operations"`
}

// Begun is an operation that a command has begun, in JSON.
type Begun struct {
	// Its number. The console works it in the background.
	Operation store.OperationID `json:"operation"`
}

var errNoOperation = &missing{"the box has no such operation; the page of its operations has those there are, and housekeeping removes old ones"}

// operated returns the latest operations of the database, at most two seconds old.
func (d *database) operated(ctx context.Context) ([]operations.Operation, error) {
	all, _, known := d.knownOperations()
	if known {
		return all, nil
	}
	err := d.ask(ctx, func(ctx context.Context) (err error) {
		var changes int
		all, changes, known = d.knownOperations()
		if known || d.ops.Bookkeeper == nil { // somebody asked while this waited, or it keeps none
			return nil
		}
		if all, err = d.ops.Operations(ctx, operations.MaxOperationList); err == nil {
			d.keepOperations(all, changes)
		}
		return err
	})
	return all, err
}

// knownOperations returns what was read last, how many changes were known by now, and whether it is fresh.
func (d *database) knownOperations() (all []operations.Operation, changes int, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.records, d.changes, time.Since(d.recorded) < fresh
}

// keepOperations keeps what was read, unless something was changed since it was asked for.
func (d *database) keepOperations(all []operations.Operation, changes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if changes == d.changes {
		d.records, d.recorded = all, time.Now()
	}
}

// forgetOperations has the next look read operations again: one was changed.
func (d *database) forgetOperations() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changes++
	d.recorded = time.Time{}
}

// operations returns those of the database, or of the box that the path names.
func (c *console) operations(r *http.Request) (v Operations, err error) {
	limit, err := limitOf(r, 50, operations.MaxOperationList)
	if err != nil {
		return v, err
	}
	d, err := c.database(r)
	if err != nil {
		return v, err
	}
	box := r.PathValue("box")
	if box != "" && postbag.ValidBox(box) != nil {
		return v, errNoBox
	}
	all, err := d.operated(r.Context())
	v.Operations = []operations.Operation{}
	for i := range all {
		if len(v.Operations) < limit && (box == "" || all[i].Box == box) {
			v.Operations = append(v.Operations, all[i])
		}
	}
	return v, err
}

// oneOperation asks for an operation, whichever it is.
func (d *database) oneOperation(ctx context.Context, id store.OperationID) (v operations.Operation, err error) {
	err = d.ask(ctx, func(ctx context.Context) (err error) {
		v, err = d.ops.Operation(ctx, id)
		return err
	})
	return v, err
}

// operation returns one of a box.
func (c *console) operation(r *http.Request) (v operations.Operation, err error) {
	d, err := c.database(r)
	if err != nil {
		return v, err
	}
	id, err := operationOf(r)
	if err != nil {
		return v, err
	}
	all, err := d.operated(r.Context())
	if err != nil {
		return v, err
	}
	if at := slices.IndexFunc(all, func(o operations.Operation) bool { return o.ID == id }); at >= 0 {
		v = all[at]
	} else if len(all) == operations.MaxOperationList { // it may be older than those
		v, err = d.oneOperation(r.Context(), id)
	}
	if err != nil && !errors.Is(err, operations.ErrNotFound) {
		return v, err
	}
	if v.ID != id || v.Box != r.PathValue("box") {
		return operations.Operation{}, errNoOperation
	}
	return v, nil
}

// operationOf reads the number of an operation from the path.
func operationOf(r *http.Request) (store.OperationID, error) {
	id, err := strconv.ParseInt(r.PathValue("operation"), 10, 64)
	if err != nil || id < 1 {
		return 0, errNoOperation
	}
	return store.OperationID(id), nil
}

var operationForm = []parameter{
	{"do", "pause, resume or cancel. After a pause no message gets the command. A cancelled operation is over."},
	why,
}

// Operations can be asked to do these.
const (
	doPause  = "pause"
	doResume = "resume"
	doCancel = "cancel"
)

// onOperation pauses, resumes or cancels an operation.
func (c *console) onOperation(r *http.Request) (v operations.Operation, err error) {
	f, err := form(r, operationForm)
	if err != nil {
		return v, err
	}
	id, err := operationOf(r)
	if err != nil {
		return v, err
	}
	a, err := c.signed(r, f)
	if err != nil {
		return v, err
	}
	var give func(operations.Store, context.Context, store.Audit, store.OperationID) error
	switch f.Get("do") {
	case doPause:
		give = operations.Store.PauseOperation
	case doResume:
		give = operations.Store.ResumeOperation
	case doCancel:
		give = operations.Store.CancelOperation
	default:
		return v, badRequestf("do is neither pause nor resume nor cancel; write one of them")
	}
	if f.Get("do") == doResume {
		if err := c.works(); err != nil {
			return v, err
		}
	}
	err = c.change(r, func(ctx context.Context, ops operations.Store) (err error) {
		if v, err = ops.Operation(ctx, id); err != nil || v.Box != r.PathValue("box") {
			return firstOf(err, errNoOperation)
		}
		if err = give(ops, ctx, a, id); err == nil {
			v, err = ops.Operation(ctx, id)
		}
		return err
	})
	if err == nil {
		c.news(r, id)
	}
	return v, err
}

// firstOf is the first error, or the other one where there is none.
func firstOf(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// asOperation changes an operation, and sends the browser back to its page.
func asOperation(c *console, w http.ResponseWriter, r *http.Request) error {
	if _, err := c.onOperation(r); err != nil {
		return err
	}
	w.Header().Set("Location", "../"+url.PathEscape(r.PathValue("operation")))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// OperationButtons are the commands that an operation takes.
func (*sheet) OperationButtons(o operations.Operation) []button {
	pause, resume, cancel := button{doPause, "Pause"}, button{doResume, "Resume"}, button{doCancel, "Cancel"}
	switch o.State {
	case store.OperationRunning:
		return []button{pause, cancel}
	case store.OperationPaused, store.OperationFailed:
		if o.Later {
			return []button{cancel}
		}
		return []button{resume, cancel}
	case store.OperationPlanned:
		return []button{cancel}
	default:
		return nil
	}
}

// AtOperation is the address of the page of an operation.
func (s *sheet) AtOperation(o operations.Operation) string {
	return s.To("databases", s.Database, "boxes", o.Box, "operations", strconv.FormatInt(int64(o.ID), 10))
}

// ChosenBy says for people how the messages of an operation were chosen.
func (*sheet) ChosenBy(o operations.Operation) string {
	var by struct {
		Filter string `json:"filter"`
		Key    string `json:"key_sum"`
	}
	if len(o.Chosen) == 0 || json.Unmarshal(o.Chosen, &by) != nil { // a later version may say it otherwise
		return string(o.Chosen)
	}
	if by.Key != "" {
		by.Filter += " (the sum of the key is " + by.Key + ")"
	}
	return strings.TrimSpace(by.Filter)
}
