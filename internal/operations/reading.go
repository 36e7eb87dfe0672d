package operations

import (
	"context"
	"time"

	"github.com/postbag/postbag/store"
)

// ErrReading is ErrUnsupported, and says that a command was given to a replica. Nothing was changed.
var ErrReading error = &refusal{ErrUnsupported, "a replica takes no commands; give it to the primary"}

// Reading returns the operations of a replica: those that ask. The others fail, and change nothing.
func Reading(r store.Reader) Store {
	o := readOnly{r}
	return Store{Inspector: Unfinished(r), Operator: o, Replayer: o, Bookkeeper: o, Due: r.Due}
}

// readOnly refuses what a replica cannot do.
type readOnly struct{ store.Reader }

var (
	_ store.Operator   = readOnly{}
	_ store.Replayer   = readOnly{}
	_ store.Bookkeeper = readOnly{}
)

func (readOnly) Command(context.Context, store.Audit, store.Ref, store.CommandKind, []int64) (int, error) {
	return 0, ErrReading
}

func (readOnly) SetShards(context.Context, store.Audit, store.Ref, int) error { return ErrReading }

func (readOnly) SetPaused(context.Context, store.Audit, store.Ref, bool) error { return ErrReading }

func (readOnly) StartReplay(context.Context, store.Audit, store.Replay) error { return ErrReading }

func (readOnly) EndReplay(context.Context, store.Audit, store.Ref, string) error { return ErrReading }

func (readOnly) PlanOperation(context.Context, store.Audit, store.Operation) (store.OperationID, error) {
	return 0, ErrReading
}

func (readOnly) AddMessages(context.Context, store.OperationID, int64, []store.OperationMessage) error {
	return ErrReading
}

func (readOnly) BeginOperation(context.Context, store.Audit, store.OperationID) error {
	return ErrReading
}

func (readOnly) ClaimOperation(context.Context, store.OperationID, string, time.Duration) (store.Operation, error) {
	return store.Operation{}, ErrReading
}

func (readOnly) StepOperation(context.Context, store.OperationClaim, int64, int) (store.Operation, error) {
	return store.Operation{}, ErrReading
}

func (readOnly) ReleaseOperation(context.Context, store.OperationClaim, string) error {
	return ErrReading
}

func (readOnly) SetOperation(context.Context, store.Audit, store.OperationID, store.OperationState) error {
	return ErrReading
}
