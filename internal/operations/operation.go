package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/store"
)

// Operation is a long operation in JSON: a command for many messages that the store keeps. Names of fields are a contract.
type Operation struct {
	// Its number.
	ID store.OperationID `json:"id"`
	// What it does: retry, discard, delete or publish-now.
	Kind store.OperationKind `json:"kind"`
	// The box.
	Box string `json:"box"`
	// The subscription; none for scheduled messages.
	Subscription string `json:"subscription,omitempty"`
	// The state that its messages had as they were chosen.
	Of store.State `json:"of"`
	// How they were chosen: the flags, and the SHA-256 sum of the key if one was given.
	Chosen json.RawMessage `json:"chosen,omitempty"`
	// planned, running, paused, cancelled, done or failed.
	State store.OperationState `json:"state"`
	// It runs, and no process works it: postbag operations resume or run does.
	Idle bool `json:"idle,omitempty"`
	// How many messages it has.
	Matched int64 `json:"matched"`
	// How many of them are behind it: given, changed and passed together.
	At int64 `json:"at"`
	// How many have the command.
	Given int64 `json:"given"`
	// How many were not as they were chosen any more, and were left alone.
	Changed int64 `json:"changed"`
	// How many had the command queued already, or need none.
	Passed int64 `json:"passed"`
	// The most messages a second; none: no limit.
	Rate int `json:"rate,omitempty"`
	// Who began it.
	Who string `json:"who"`
	// Why.
	Why string `json:"why"`
	// Who paused, resumed or cancelled it last.
	By string `json:"by,omitempty"`
	// Why they did.
	ByWhy string `json:"by_why,omitempty"`
	// Why it failed.
	Error string `json:"error,omitempty"`
	// Why it does not go on at the moment. The process that works it tries again by itself.
	Trouble string `json:"trouble,omitempty"`
	// The process that works it.
	Worker string `json:"worker,omitempty"`
	// When it was made.
	Made time.Time `json:"made"`
	// When it began.
	Begun time.Time `json:"begun,omitzero"`
	// When it was changed last.
	Touched time.Time `json:"touched"`
	// When it came to its end.
	Ended time.Time `json:"ended,omitzero"`
	// A later version of Postbag made it, and this one does not work it.
	Later bool `json:"later,omitempty"`
}

// operationOf is what people and programs see of a record.
func operationOf(o *store.Operation, now time.Time) Operation {
	v := Operation{
		ID: o.ID, Kind: o.Kind, Box: o.Box, Subscription: o.Subscription, Of: o.Of, State: o.State, Matched: o.Matched, At: o.At, Given: o.Given,
		Changed: o.Changed, Passed: o.Passed, Rate: o.Rate, Who: o.Who, Why: o.Why, By: o.By, ByWhy: o.ByWhy, Error: o.Error,
		Made: o.Made, Begun: o.Begun, Touched: o.Touched, Ended: o.Ended, Later: o.Version > store.OperationVersion || o.Kind.Command() == 0,
		Idle: o.State == store.OperationRunning && !o.Held(now),
	}
	if o.Held(now) {
		v.Worker = o.Worker
	}
	if o.State == store.OperationRunning {
		v.Trouble, v.Error = o.Error, ""
	}
	if json.Valid([]byte(o.Chosen)) {
		v.Chosen = json.RawMessage(o.Chosen)
	}
	return v
}

// Progress is how far the operation is.
func (o *Operation) Progress() Progress {
	return progressOf(&store.Operation{Of: o.Of, State: o.State, Matched: o.Matched, At: o.At, Given: o.Given, Changed: o.Changed})
}

// Err says why an operation came to no good end; nil: it is done, or has not ended.
func (o *Operation) Err() error {
	switch o.State {
	case store.OperationCancelled:
		return fmt.Errorf("operation %d was cancelled by %s: %s; %d of %d messages were behind it", o.ID, o.By, o.ByWhy, o.At, o.Matched)
	case store.OperationFailed:
		return fmt.Errorf("operation %d failed with %d of %d messages behind it: %s", o.ID, o.At, o.Matched, o.Error)
	default:
		return nil
	}
}

// MaxOperationList is how many operations one look shows.
const MaxOperationList = 1000

// ValidOperationList says whether one look shows so many operations.
func ValidOperationList(limit int) error {
	if limit < 1 || limit > MaxOperationList {
		return refusef(ErrInvalid, "%d operations are asked for; choose between 1 and %d", limit, MaxOperationList)
	}
	return nil
}

// Operations returns the latest long operations, at most limit, the newest first.
func (s Store) Operations(ctx context.Context, limit int) ([]Operation, error) {
	if s.Bookkeeper == nil {
		return nil, errNoBookkeeper()
	}
	if err := ValidOperationList(limit); err != nil {
		return nil, err
	}
	now, err := s.Bookkeeper.Clock(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.Bookkeeper.Operations(ctx, limit)
	out := make([]Operation, len(all))
	for i := range all {
		out[i] = operationOf(&all[i], now)
	}
	return out, err
}

// Operation returns a long operation. One that is not there is ErrNotFound.
func (s Store) Operation(ctx context.Context, id store.OperationID) (Operation, error) {
	if s.Bookkeeper == nil {
		return Operation{}, errNoBookkeeper()
	}
	now, err := s.Bookkeeper.Clock(ctx)
	if err != nil {
		return Operation{}, err
	}
	o, err := s.Bookkeeper.Operation(ctx, id)
	return operationOf(&o, now), noOperation(id, err)
}

// PauseOperation has an operation wait: no message gets its command after this returns, until somebody resumes it.
func (s Store) PauseOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	return s.setOperation(ctx, a, id, store.OperationPaused)
}

// ResumeOperation ends the pause of an operation, or has one run again that failed. A process must work it.
func (s Store) ResumeOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	return s.setOperation(ctx, a, id, store.OperationRunning)
}

// CancelOperation ends an operation. What has its command keeps it.
func (s Store) CancelOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	return s.setOperation(ctx, a, id, store.OperationCancelled)
}

func (s Store) setOperation(ctx context.Context, a store.Audit, id store.OperationID, to store.OperationState) error {
	if err := ValidAudit(a); err != nil {
		return err
	}
	if s.Bookkeeper == nil {
		return errNoBookkeeper()
	}
	err := s.Bookkeeper.SetOperation(ctx, a, id, to)
	if !errors.Is(err, store.ErrOperationState) {
		return noOperation(id, err)
	}
	o, look := s.Bookkeeper.Operation(ctx, id)
	switch {
	case look != nil:
		return err
	case o.State == store.OperationPlanned:
		return refusef(ErrInvalid, "operation %d did not begin: the process ended that chose its messages; nothing was given, so give the command again, and cancel this one", id)
	}
	return refusef(ErrInvalid, "operation %d is %s, with %d of %d messages behind it; it cannot be %s any more", id, o.State, o.At, o.Matched, to)
}

func noOperation(id store.OperationID, err error) error {
	if errors.Is(err, store.ErrNoOperation) {
		return NoOperation(id)
	}
	return err
}

// NoOperation is the ErrNotFound of an operation.
func NoOperation(id store.OperationID) error {
	return refusef(ErrNotFound, "there is no operation %d; postbag operations list shows those there are", id)
}

func errNoBookkeeper() error {
	return refusef(ErrUnsupported, "this kind of store keeps no long operations")
}

// Recorded says whether a command for the messages of a preview is kept by the store. One of a single portion is not: nothing of it
// can be interrupted. One for messages that were named by their ids is not either.
func (s Store) Recorded(p *Preview, rate int) bool {
	portion := (&Run{preview: p, Rate: rate}).size(p.Size())
	return s.Bookkeeper != nil && len(p.IDs) == 0 && p.Size() > portion && p.Size() <= store.MaxOperationMessages && p.keep && (len(p.seqs) == 0) != (len(p.scheduled) == 0)
}

// operationKind is what an operation of the choice is called.
func (c *Choice) operationKind() store.OperationKind {
	switch {
	case c.Kind == store.Discard && c.Only == store.StateDead:
		return store.OperationDelete
	case c.Kind == store.Discard:
		return store.OperationDiscard
	case c.Only == store.StateScheduled:
		return store.OperationPublishNow
	}
	return store.OperationRetry
}

// chosen says in JSON how the messages were chosen. Of a key it has the sum.
func (c *Choice) chosen() string {
	v := struct {
		Filter string `json:"filter"`
		Key    string `json:"key_sum,omitempty"`
	}{Filter: c.Filter}
	if c.Query.Key != "" {
		v.Key = store.KeySum(c.Query.Key)
	}
	text, err := json.Marshal(v)
	if err != nil || len(text) > store.MaxOperationChosen {
		v.Filter = "a filter that is too long for the record"
		text, _ = json.Marshal(v) //nolint:errchkjson // two texts
	}
	return string(text)
}

// StartOperation writes the record of an operation, with all messages of a preview, and begins it. A process must work it: see Work.
func (s Store) StartOperation(ctx context.Context, p *Preview, a store.Audit, rate int) (store.OperationID, error) {
	if err := ValidAudit(a); err != nil {
		return 0, err
	}
	if s.Bookkeeper == nil {
		return 0, errNoBookkeeper()
	}
	list := p.messages()
	id, err := s.Bookkeeper.PlanOperation(ctx, a, store.Operation{
		Ref: p.Ref, Kind: p.operationKind(), Of: p.Query.State, Chosen: p.chosen(), AsOf: p.asOf, Matched: int64(len(list)), Rate: rate,
	})
	if err != nil {
		return 0, err
	}
	from := int64(0)
	for part := range slices.Chunk(list, store.OperationPart) {
		if err == nil {
			err = s.Bookkeeper.AddMessages(ctx, id, from, part)
		}
		from += int64(len(part))
	}
	if err == nil {
		a.Filter = strings.TrimSpace(p.Filter)
		err = s.Bookkeeper.BeginOperation(ctx, a, id)
	}
	if err != nil {
		err = errors.Join(err, s.drop(ctx, a, id))
	}
	return id, err
}

// drop cancels an operation that could not begin, if it can. Otherwise housekeeping removes it.
func (s Store) drop(ctx context.Context, a store.Audit, id store.OperationID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if err := s.Bookkeeper.SetOperation(ctx, a, id, store.OperationCancelled); err != nil && !errors.Is(err, store.ErrOperationState) {
		return err
	}
	return nil
}
