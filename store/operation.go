package store

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/postbag/postbag"
)

// Bookkeeper is implemented by a store that keeps long operations: a command for many
// messages, that survives the process which began it. The messages themselves are kept, and
// given the command some at a time. One process works an operation at a time, under a lease
// with a token. All can see it, pause it, resume it and cancel it.
//
// Of an id that is not there the error is ErrNoOperation.
type Bookkeeper interface {
	// Clock returns the time of the database.
	Clock(ctx context.Context) (time.Time, error)
	// PlanOperation makes a record of state OperationPlanned, of o's Kind, Ref, Of, Chosen,
	// AsOf, Matched and Rate. Nothing is given yet. Errors: ErrNoBox, ErrNoSubscription,
	// ErrTooManyOperations, and those of [Operation.Validate].
	PlanOperation(ctx context.Context, a Audit, o Operation) (OperationID, error)
	// AddMessages writes messages of a planned operation, from the one with this number on.
	// from is a multiple of OperationPart, and all calls but the last one bring that many. To
	// call it again with the same messages does no harm.
	AddMessages(ctx context.Context, id OperationID, from int64, of []OperationMessage) error
	// BeginOperation has a planned operation run, and writes it to the audit log. Its
	// messages must all be there.
	BeginOperation(ctx context.Context, a Audit, id OperationID) error
	// ClaimOperation takes the lease of an operation that runs, and adds one to its token. If
	// another worker's lease has not ended, the error is ErrOperationHeld. Of an operation
	// that does not run it is ErrOperationState, and of one that this version cannot work
	// ErrOperationVersion.
	ClaimOperation(ctx context.Context, id OperationID, worker string, lease time.Duration) (Operation, error)
	// StepOperation gives the command to the next n messages, at most OperationPart, from the
	// one with the number from on. In the same transaction it moves At and the counts, and makes
	// the lease longer. The step that comes to the last message ends the operation, and writes
	// that to the audit log. n is 0: it only makes the lease longer, and a paused operation can
	// have that, too. An operation that runs then has the claim's Trouble as its Error, and a step
	// that gives commands takes that away.
	//
	// Nothing is given, and the answer says how the operation is, if it does not run, or if from
	// is not its At. A claim with an old token is ErrOperationLost. ErrTooManyCommands is as that
	// of Operator.Command. If the subscription was removed, or removed and declared again, the
	// error is ErrNoSubscription. Nothing is changed if there is an error.
	//
	// If Of is StateDead, a message has the command only while it is dead, if it died up to AsOf,
	// and if no other command waits for it.
	StepOperation(ctx context.Context, c OperationClaim, from int64, n int) (Operation, error)
	// ReleaseOperation gives the lease back. failed: the operation runs no more, and this is why.
	// Empty: it stays as it is, for another worker. With an old token it is ErrOperationLost.
	ReleaseOperation(ctx context.Context, c OperationClaim, failed string) error
	// SetOperation has an operation be OperationPaused, OperationRunning or OperationCancelled.
	// When it returns, no step commits that the new state forbids. It may be said again. What
	// was planned can only be cancelled, what failed only resumed or cancelled, and what is done
	// or cancelled stays so: ErrOperationState. A cancel is written to the audit log.
	SetOperation(ctx context.Context, a Audit, id OperationID, to OperationState) error
	// Operation returns a record.
	Operation(ctx context.Context, id OperationID) (Operation, error)
	// Operations returns records, the newest first, at most limit. It can be asked for 1,000.
	Operations(ctx context.Context, limit int) ([]Operation, error)
}

// OperationID names an operation of a store.
type OperationID int64

// OperationVersion is that of the records that this version writes and can work.
const OperationVersion = 1

// OperationPart is how many messages a part of an operation has, and a step gives the command to, at most.
const OperationPart = 500

// Bounds of operations.
const (
	// MaxOperations is how many can be planned, running or paused at a time.
	MaxOperations = 100
	// MaxOperationMessages is how many messages one can have.
	MaxOperationMessages = 5_000_000
	// MaxOperationChosen is how many bytes Operation.Chosen can have.
	MaxOperationChosen = 16 << 10
	// MaxOperationError is how many bytes Operation.Error can have.
	MaxOperationError = 1024
)

// How long records stay that nobody changes.
const (
	// OperationKept is how long a record stays after its last change.
	OperationKept = 30 * 24 * time.Hour
	// OperationPlannedKept is how long one stays that is only planned.
	OperationPlannedKept = 24 * time.Hour
)

// OperationKind is what an operation does.
type OperationKind string

// The kinds of operations.
const (
	OperationRetry      OperationKind = "retry"
	OperationDiscard    OperationKind = "discard"
	OperationDelete     OperationKind = "delete"      // a discard of dead messages
	OperationPublishNow OperationKind = "publish-now" // a retry of scheduled messages
)

// Command is the command that messages are given. Zero: this version does not know the kind.
func (k OperationKind) Command() CommandKind {
	switch k {
	case OperationRetry, OperationPublishNow:
		return Retry
	case OperationDiscard, OperationDelete:
		return Discard
	}
	return 0
}

// OperationState is what becomes of an operation.
type OperationState string

// The states of operations.
const (
	// OperationPlanned: its messages are being written. Nothing is given.
	OperationPlanned OperationState = "planned"
	// OperationRunning: the worker that has the lease works it. If nobody has it, anybody can take it.
	OperationRunning OperationState = "running"
	// OperationPaused: it waits until somebody resumes it.
	OperationPaused OperationState = "paused"
	// OperationCancelled: it ended before its last message.
	OperationCancelled OperationState = "cancelled"
	// OperationDone: all of its messages are behind it.
	OperationDone OperationState = "done"
	// OperationFailed: an error ended it, which Operation.Error has.
	OperationFailed OperationState = "failed"
)

// Operation is the record of a long operation.
type Operation struct {
	ID OperationID
	// Ref is the box, and the subscription by its name. Scheduled messages have no
	// subscription.
	Ref
	// Version is that of the record. Fields of a later version are not shown.
	Version int
	Kind    OperationKind
	// Of is the one state of its messages, as they were chosen.
	Of State
	// Chosen says in JSON how they were chosen, for people.
	Chosen string
	// AsOf is the database's time before the choice was looked up.
	AsOf time.Time
	// Rate is the most messages a second. Zero: no limit.
	Rate int
	// Who began it, and Why.
	Who, Why string

	// Matched is how many messages it has, and At how many are behind it.
	Matched, At int64
	// Given have the command. Changed were not as they were chosen any more, and were left
	// alone. Passed had it queued already, or need none. The three are At together.
	Given, Changed, Passed int64

	State OperationState
	// Error is why it failed, and stays if it is cancelled then. While it runs, it is what its worker has trouble with, and tries again by itself.
	Error string
	// By paused, resumed or cancelled it last, and ByWhy is why. Empty: nobody did.
	By, ByWhy string

	// Worker has the lease until LeaseEnds. Empty: nobody has.
	Worker    string
	Token     int64
	LeaseEnds time.Time

	// Made is when it was planned, Begun when it began, Touched when it was changed last, and
	// Ended when it came to its end. Zero: not yet.
	Made, Begun, Touched, Ended time.Time
}

// OperationMessage is a message of an operation: by seq and id, or by id alone if it is scheduled.
type OperationMessage struct {
	Seq int64
	ID  postbag.ID
}

// OperationClaim is the right to work an operation.
type OperationClaim struct {
	ID    OperationID
	Token int64
	// Lease is how long the lease is from each step on.
	Lease time.Duration
	// Of is Operation.Of, as ClaimOperation returned it: a store chooses its locks by it before it reads the record. To name another
	// one is an error. Empty is always right, and may wait for more.
	Of State
	// Trouble is what keeps the worker from a step, if it tries again by itself. Empty: nothing does. See StepOperation.
	Trouble string
}

// Errors of a Bookkeeper.
var (
	// ErrNoOperation: there is no such operation, or its record was removed.
	ErrNoOperation = errors.New("store: no such operation; postbag operations list names those there are")
	// ErrTooManyOperations: more than MaxOperations would be planned, running or paused.
	ErrTooManyOperations = errors.New("store: more than 100 operations would be planned, running or paused; let some end, or cancel them with postbag operations cancel")
	// ErrOperationHeld: another worker has the lease.
	ErrOperationHeld = errors.New("store: another process works the operation")
	// ErrOperationLost: another worker has taken the operation over.
	ErrOperationLost = errors.New("store: another process has taken the operation over; postbag operations show says how far it is")
	// ErrOperationState: an operation in this state cannot do that.
	ErrOperationState = errors.New("store: the state of the operation does not allow that")
	// ErrOperationVersion: a later version made the record.
	ErrOperationVersion = errors.New("store: a later version of Postbag made this operation; work it with that one, or cancel it")
	// ErrOperationDamaged: the messages of an operation cannot be read.
	ErrOperationDamaged = errors.New("store: a part of the operation's messages cannot be read: the row is gone or damaged, or a later version wrote it; cancel it, and give the command again")
)

// Open says that an operation counts towards MaxOperations.
func (s OperationState) Open() bool {
	return s == OperationPlanned || s == OperationRunning || s == OperationPaused
}

// Held says that a worker's lease has not ended.
func (o *Operation) Held(now time.Time) bool { return o.Worker != "" && now.Before(o.LeaseEnds) }

// Validate says what is wrong with the fields that PlanOperation takes.
func (o *Operation) Validate() error {
	errs := []error{postbag.ValidBox(o.Box)}
	if !o.scheduled() {
		errs = append(errs, postbag.ValidSubscription(o.Subscription))
	}
	if o.Kind.Command() == 0 {
		errs = append(errs, fmt.Errorf("store: an operation of kind %.20q; use retry, discard, delete or publish-now", string(o.Kind)))
	}
	if o.Matched < 1 || o.Matched > MaxOperationMessages {
		errs = append(errs, fmt.Errorf("store: an operation of %d messages; choose 1 to 5,000,000", o.Matched))
	}
	if len(o.Chosen) > MaxOperationChosen || !utf8.ValidString(o.Chosen) {
		errs = append(errs, fmt.Errorf("store: what was chosen takes %d bytes in the record, or is no text; shorten it to %d", len(o.Chosen), MaxOperationChosen))
	}
	if o.Rate < 0 || o.AsOf.IsZero() || !o.fits() {
		errs = append(errs, fmt.Errorf("store: an operation %s of %.20q messages at rate %d as of %s; give a rate from 0, the time of the database, and a state that takes the command",
			o.Kind, string(o.Of), o.Rate, o.AsOf))
	}
	return errors.Join(errs...)
}

// scheduled says that its messages are scheduled.
func (o *Operation) scheduled() bool { return o.Of == StateScheduled }

// fits says that messages of the state take the kind.
func (o *Operation) fits() bool {
	switch o.Of {
	case StateDead, StateScheduled:
		return (o.Kind != OperationDelete || o.Of == StateDead) && (o.Kind != OperationPublishNow || o.Of == StateScheduled)
	case StateRetrying, StateBlocked, StateInFlight, StateHeld:
		return o.Kind == OperationRetry || o.Kind == OperationDiscard
	case StatePending:
		return o.Kind == OperationDiscard
	default:
		return false
	}
}
