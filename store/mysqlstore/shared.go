package mysqlstore

import (
	"context"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// What is the same in every store over database/sql, and done in package sqlkit.

// Declare creates the subscriptions that are missing; see [store.Store].
func (s *Store) Declare(ctx context.Context, specs []store.Spec) error {
	return s.base.Declare(ctx, specs)
}

// Beat renews a relay's heartbeat and changes who owns what; see [store.Store].
func (s *Store) Beat(ctx context.Context, b store.Beat) (store.View, error) {
	return s.base.Beat(ctx, b)
}

// Blocked returns the keys and topics that wait in a lease's slots; see [store.Store].
func (s *Store) Blocked(ctx context.Context, l store.Lease) (store.Blocks, error) {
	return s.base.Blocked(ctx, l)
}

// Due returns parked messages that can be tried; see [store.Store].
func (s *Store) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	return s.base.Due(ctx, d)
}

// Overview says how boxes, subscriptions and relays are; see [store.Inspector].
func (s *Store) Overview(ctx context.Context) (store.Overview, error) { return s.base.Overview(ctx) }

// List returns a page of messages; see [store.Inspector].
func (s *Store) List(ctx context.Context, q store.Query) (items []store.Item, next string, err error) {
	return s.base.List(ctx, q)
}

// Show returns a message wherever it is; see [store.Inspector].
func (s *Store) Show(ctx context.Context, box string, id postbag.ID) ([]store.Item, error) {
	return s.base.Show(ctx, box, id)
}

// Audited returns what operators did last; see [store.Operator].
func (s *Store) Audited(ctx context.Context, limit int) ([]store.AuditEntry, error) {
	return s.base.Audited(ctx, limit)
}

// Command gives a relay a command about messages; see [store.Operator].
func (s *Store) Command(ctx context.Context, a store.Audit, r store.Ref, kind store.CommandKind, seqs []int64) (int, error) {
	return s.base.Command(ctx, a, r, kind, seqs)
}

// SetShards asks for another number of shards; see [store.Operator].
func (s *Store) SetShards(ctx context.Context, a store.Audit, r store.Ref, n int) error {
	return s.base.SetShards(ctx, a, r, n)
}

// SetPaused holds a subscription, or lets it go on; see [store.Operator].
func (s *Store) SetPaused(ctx context.Context, a store.Audit, r store.Ref, paused bool) error {
	return s.base.SetPaused(ctx, a, r, paused)
}

// SetRetention sets how long messages of a box stay; see [store.Retainer].
func (s *Store) SetRetention(ctx context.Context, a store.Audit, box string, l store.Lifetimes) error {
	return s.base.SetRetention(ctx, a, box, l)
}

// DeployRetention takes what a relay says of that; see [store.Retainer].
func (s *Store) DeployRetention(ctx context.Context, d store.Deployment) (store.BoxRetention, error) {
	return s.base.DeployRetention(ctx, d)
}

// Expired returns about how many messages housekeeping would remove; see [store.Retainer].
func (s *Store) Expired(ctx context.Context, box string, l store.Lifetimes) (int64, error) {
	return s.base.Expired(ctx, box, l)
}

// SetPause begins a pause; see [store.Pauser].
func (s *Store) SetPause(ctx context.Context, a store.Audit, p store.Pause, d time.Duration) error {
	return s.base.SetPause(ctx, a, p, d)
}

// EndPause ends a pause; see [store.Pauser].
func (s *Store) EndPause(ctx context.Context, a store.Audit, p store.Pause) (bool, error) {
	return s.base.EndPause(ctx, a, p)
}

// AcceptLedger takes the log as it is for the truth; see [store.Editor].
func (s *Store) AcceptLedger(ctx context.Context, a store.Audit, box string) ([]string, error) {
	return s.base.AcceptLedger(ctx, a, box)
}

// Scheduled sends scheduled messages now, or discards them; see [store.Editor].
func (s *Store) Scheduled(ctx context.Context, a store.Audit, box string, kind store.CommandKind, ids []postbag.ID) (int, error) {
	return s.base.Scheduled(ctx, a, box, kind, ids)
}

// Erase deletes messages wherever they are; see [store.Editor].
func (s *Store) Erase(ctx context.Context, a store.Audit, box string, ids []postbag.ID) (store.Erased, error) {
	return s.base.Erase(ctx, a, box, ids)
}

// StartReplay makes a replay; see [store.Replayer].
func (s *Store) StartReplay(ctx context.Context, a store.Audit, r store.Replay) error {
	return s.base.StartReplay(ctx, a, r)
}

// SeqBefore finds a seq by time; see [store.Replayer].
func (s *Store) SeqBefore(ctx context.Context, box string, at time.Time) (int64, error) {
	return s.base.SeqBefore(ctx, box, at)
}

// Floor returns how far a position has passed everything; see [store.Replayer].
func (s *Store) Floor(p store.Position) (int64, error) { return s.base.Floor(p) }

// SetFilter gives a subscription another filter; see [store.Steward].
func (s *Store) SetFilter(ctx context.Context, a store.Audit, r store.Ref, f store.Filter) error {
	return s.base.SetFilter(ctx, a, r, f)
}

// Remove deletes a subscription and all that is its own; see [store.Steward].
func (s *Store) Remove(ctx context.Context, a store.Audit, r store.Ref, force bool) error {
	return s.base.Remove(ctx, a, r, force)
}

// Readmit lets a removed subscription be declared again; see [store.Steward].
func (s *Store) Readmit(ctx context.Context, a store.Audit, r store.Ref) error {
	return s.base.Readmit(ctx, a, r)
}

// Clock returns the database's time; see [store.Bookkeeper].
func (s *Store) Clock(ctx context.Context) (time.Time, error) { return s.base.Clock(ctx) }

// PlanOperation makes the record of an operation; see [store.Bookkeeper].
func (s *Store) PlanOperation(ctx context.Context, a store.Audit, o store.Operation) (store.OperationID, error) {
	return s.base.PlanOperation(ctx, a, o)
}

// AddMessages writes messages of an operation; see [store.Bookkeeper].
func (s *Store) AddMessages(ctx context.Context, id store.OperationID, from int64, of []store.OperationMessage) error {
	return s.base.AddMessages(ctx, id, from, of)
}

// BeginOperation has an operation run; see [store.Bookkeeper].
func (s *Store) BeginOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	return s.base.BeginOperation(ctx, a, id)
}

// ClaimOperation takes the lease of an operation; see [store.Bookkeeper].
func (s *Store) ClaimOperation(ctx context.Context, id store.OperationID, worker string, lease time.Duration) (store.Operation, error) {
	return s.base.ClaimOperation(ctx, id, worker, lease)
}

// StepOperation gives the command to the next messages; see [store.Bookkeeper].
func (s *Store) StepOperation(ctx context.Context, c store.OperationClaim, from int64, n int) (store.Operation, error) {
	return s.base.StepOperation(ctx, c, from, n)
}

// ReleaseOperation gives the lease back; see [store.Bookkeeper].
func (s *Store) ReleaseOperation(ctx context.Context, c store.OperationClaim, failed string) error {
	return s.base.ReleaseOperation(ctx, c, failed)
}

// SetOperation pauses, resumes or cancels an operation; see [store.Bookkeeper].
func (s *Store) SetOperation(ctx context.Context, a store.Audit, id store.OperationID, to store.OperationState) error {
	return s.base.SetOperation(ctx, a, id, to)
}

// Operation returns a record; see [store.Bookkeeper].
func (s *Store) Operation(ctx context.Context, id store.OperationID) (store.Operation, error) {
	return s.base.Operation(ctx, id)
}

// Operations returns records, the newest first; see [store.Bookkeeper].
func (s *Store) Operations(ctx context.Context, limit int) ([]store.Operation, error) {
	return s.base.Operations(ctx, limit)
}

// Revise implements store.Reviser.
func (s *Store) Revise(ctx context.Context, a store.Audit, box string, of postbag.ID, m postbag.Message) error {
	return s.base.Revise(ctx, s, a, box, of, m)
}
