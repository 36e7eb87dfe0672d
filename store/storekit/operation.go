package storekit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// The functions below decide what becomes of the record of an operation, for all stores: under its lock a store reads it, calls
// one of them with the time of the database, and writes the record. An error changes nothing.

// PlanOperation returns the record as it is made.
func PlanOperation(a store.Audit, o store.Operation, now time.Time) (store.Operation, error) {
	if err := errors.Join(CheckAudit(a), o.Validate()); err != nil {
		return o, err
	}
	made := store.Operation{
		Version: store.OperationVersion, Ref: o.Ref, Kind: o.Kind, Of: o.Of, Chosen: o.Chosen, AsOf: o.AsOf.UTC(), Rate: o.Rate, Matched: o.Matched,
		Who: Reason(a.Who), Why: Reason(a.Why), State: store.OperationPlanned, Made: now.UTC(), Touched: now.UTC(),
	}
	if ofScheduled(&made) {
		made.Subscription = ""
	}
	return made, nil
}

func ofScheduled(o *store.Operation) bool { return o.Of == store.StateScheduled }

// AddToOperation checks that messages belong where they are to be written, and returns the number of their part and how it
// is kept.
func AddToOperation(o *store.Operation, from int64, of []store.OperationMessage) (part int64, packed []byte, err error) {
	if o.State != store.OperationPlanned {
		return 0, nil, fmt.Errorf("%w: it is %s, and takes no more messages", store.ErrOperationState, o.State)
	}
	if want := min(o.Matched-from, store.OperationPart); from < 0 || from%store.OperationPart != 0 || want <= 0 || int64(len(of)) != want {
		return 0, nil, fmt.Errorf("%d messages from number %d on, of an operation of %d; bring %d at a time, and the last ones at the end",
			len(of), from, o.Matched, store.OperationPart)
	}
	return from / store.OperationPart, packMessages(ofScheduled(o), of), nil
}

// OperationParts is how many parts all messages of an operation have.
func OperationParts(o *store.Operation) int64 {
	return (o.Matched + store.OperationPart - 1) / store.OperationPart
}

// BeginOperation has an operation run whose messages are in so many parts, and returns the line of the audit log.
func BeginOperation(a store.Audit, o *store.Operation, parts int64, now time.Time) (string, error) {
	switch {
	case CheckAudit(a) != nil:
		return "", CheckAudit(a)
	case o.State != store.OperationPlanned:
		return "", fmt.Errorf("%w: it is %s", store.ErrOperationState, o.State)
	case parts != OperationParts(o):
		return "", fmt.Errorf("%w: %d of %d parts of its messages are there", store.ErrOperationState, parts, OperationParts(o))
	}
	o.State, o.Begun, o.Touched = store.OperationRunning, now.UTC(), now.UTC()
	return fmt.Sprintf("begin operation %d: %s %s, %d %s messages", o.ID, o.Kind, operationPlace(o), o.Matched, o.Of), nil
}

func operationPlace(o *store.Operation) string {
	if o.Subscription == "" {
		return o.Box
	}
	return o.Ref.String()
}

// ClaimOperation gives a worker the lease.
func ClaimOperation(o *store.Operation, worker string, lease time.Duration, now time.Time) error {
	switch {
	case worker == "" || len(worker) > postbag.MaxName || lease <= 0:
		return fmt.Errorf("the worker has no name, or one of more than %d bytes, or its lease is %s; give both", postbag.MaxName, lease)
	case o.Version > store.OperationVersion || o.Kind.Command() == 0:
		return store.ErrOperationVersion
	case o.State != store.OperationRunning:
		return fmt.Errorf("%w: it is %s", store.ErrOperationState, o.State)
	case o.Held(now):
		return store.ErrOperationHeld
	}
	o.Worker, o.LeaseEnds, o.Touched = worker, now.Add(lease).UTC(), now.UTC()
	o.Token++
	return nil
}

// StepOperation makes the lease longer, and returns how many messages are to be given the command now, from o.At on.
func StepOperation(o *store.Operation, c store.OperationClaim, from int64, n int, now time.Time) (int, error) {
	switch {
	case n < 0 || n > store.OperationPart || c.Lease <= 0:
		return 0, fmt.Errorf("a step of %d messages, and a lease of %s; step over 0 to %d, with a lease", n, c.Lease, store.OperationPart)
	case c.Of != "" && c.Of != o.Of:
		return 0, fmt.Errorf("the claim says that the messages are %.20q, and they are %s; name what ClaimOperation returned", string(c.Of), o.Of)
	case o.Token != c.Token:
		return 0, store.ErrOperationLost
	case o.State != store.OperationRunning && o.State != store.OperationPaused:
		return 0, nil
	case o.Worker == "":
		return 0, store.ErrOperationLost
	case o.Version > store.OperationVersion || o.Kind.Command() == 0:
		return 0, store.ErrOperationVersion
	case o.State == store.OperationPaused || from != o.At:
		n = 0
	}
	o.LeaseEnds, o.Touched, o.Error = now.Add(c.Lease).UTC(), now.UTC(), ""
	if n == 0 && o.State == store.OperationRunning {
		o.Error = Reason(c.Trouble)
	}
	return int(min(int64(n), o.Matched-o.At)), nil
}

// EndStep counts n messages as behind an operation, of which some were given the command, and others had changed. It returns a
// line of the audit log if that were the last ones.
func EndStep(o *store.Operation, n, given, changed int64, now time.Time) (audit string) {
	o.At, o.Given, o.Changed, o.Passed = o.At+n, o.Given+given, o.Changed+changed, o.Passed+n-given-changed
	if o.At < o.Matched {
		return ""
	}
	o.State, o.Ended, o.Touched = store.OperationDone, now.UTC(), now.UTC()
	o.Worker, o.LeaseEnds = "", time.Time{}
	return operationEnd(o)
}

// operationEnd is how the audit log says that an operation is over.
func operationEnd(o *store.Operation) string {
	return fmt.Sprintf("%s%d given, %d changed, %d passed", OperationEndText(o), o.Given, o.Changed, o.Passed)
}

// OperationEndText is how that line begins: what comes after it are the counts.
func OperationEndText(o *store.Operation) string {
	return fmt.Sprintf("end operation %d: %s %s is %s with %d of %d messages behind it: ", o.ID, o.Kind, operationPlace(o), o.State, o.At, o.Matched)
}

// ReleaseOperation gives the lease back. If the operation has failed, it returns a line of the audit log.
func ReleaseOperation(o *store.Operation, c store.OperationClaim, failed string, now time.Time) (audit string, err error) {
	switch {
	case o.Token != c.Token:
		return "", store.ErrOperationLost
	case o.Worker == "":
		return "", nil
	}
	o.Worker, o.LeaseEnds, o.Touched = "", time.Time{}, now.UTC()
	if failed == "" || o.State != store.OperationRunning {
		return "", nil
	}
	o.State, o.Ended = store.OperationFailed, now.UTC()
	o.Error = Reason(failed)
	return operationEnd(o), nil
}

// SetOperation has an operation be in another state. changed: the record is to be written. audit is a line of the audit log, if
// there is one.
func SetOperation(a store.Audit, o *store.Operation, to store.OperationState, now time.Time) (audit string, changed bool, err error) {
	if err := CheckAudit(a); err != nil {
		return "", false, err
	}
	if o.State == to && (to == store.OperationPaused || to == store.OperationRunning || to == store.OperationCancelled) {
		return "", false, nil
	}
	if !operationCanBe(o.State, to) {
		return "", false, fmt.Errorf("%w: it is %s and cannot be %.20q", store.ErrOperationState, o.State, string(to))
	}
	if o.State != store.OperationFailed || to != store.OperationCancelled { // which is over, and says why it failed
		o.Error = ""
	}
	o.By, o.ByWhy, o.Touched, o.State = Reason(a.Who), Reason(a.Why), now.UTC(), to
	switch to {
	case store.OperationCancelled:
		o.Ended, o.Worker, o.LeaseEnds = now.UTC(), "", time.Time{}
		return operationEnd(o), true, nil
	case store.OperationRunning:
		o.Ended = time.Time{}
	default: // it is paused
	}
	return "", true, nil
}

func operationCanBe(from, to store.OperationState) bool {
	switch to {
	case store.OperationPaused:
		return from == store.OperationRunning
	case store.OperationRunning:
		return from == store.OperationPaused || from == store.OperationFailed
	case store.OperationCancelled:
		return from.Open() || from == store.OperationFailed
	default:
		return false
	}
}

// OperationOver says whether housekeeping removes a record.
func OperationOver(o *store.Operation, now time.Time) bool {
	kept := store.OperationKept
	if o.State == store.OperationPlanned {
		kept = store.OperationPlannedKept
	}
	return !now.Before(o.Touched.Add(kept))
}

// OperationLimit brings the limit of a listing within bounds.
func OperationLimit(limit int) int { return max(min(limit, listMost), 0) }

// OperationDoing is how errors call what is done to an operation.
func OperationDoing(doing string, id store.OperationID) string {
	return strings.TrimSpace(fmt.Sprintf("%s operation %d", doing, id))
}
