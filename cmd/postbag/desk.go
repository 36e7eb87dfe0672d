package main

import (
	"context"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/remote"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// desk is what commands look at and change: a database, or a console that has one.
type desk interface {
	looker
	changer
}

// looker is what commands look at.
type looker interface {
	// Status returns the state of all boxes, or of one. Watch returns what looks again and again, with rates.
	Status(ctx context.Context, box string) (*operations.Status, error)
	Watch(box string) func(context.Context) (*operations.Status, error)
	Subscriptions(ctx context.Context, box string) (*operations.SubscriptionList, error)
	Subscription(ctx context.Context, r store.Ref) (*operations.SubscriptionDetail, []operations.Setting, error)
	// Messages shows those that match page by page, without payloads. Zero: all of them.
	Messages(ctx context.Context, q store.Query, limit int, see func([]operations.Message) error) (operations.Listing, error)
	// Message returns the copies of a message, with payload and headers, and what of these is not shown.
	Message(ctx context.Context, r store.Ref, id postbag.ID) (all []operations.Message, hidden []string, err error)
	AuditLog(ctx context.Context, limit int) ([]operations.AuditLine, error)
	Replays(ctx context.Context, box string) ([]operations.Replay, error)
	Operations(ctx context.Context, limit int) ([]operations.Operation, error)
	Operation(ctx context.Context, id store.OperationID) (operations.Operation, error)
}

// changer is what commands change.
type changer interface {
	Pause(ctx context.Context, a store.Audit, p store.Pause, d time.Duration) (notes []string, err error)
	Resume(ctx context.Context, a store.Audit, p store.Pause) error
	SetShards(ctx context.Context, a store.Audit, r store.Ref, n int) error
	Tune(ctx context.Context, a store.Audit, r store.Ref, set []store.Setting, reset []string) error
	PauseOperation(ctx context.Context, a store.Audit, id store.OperationID) error
	ResumeOperation(ctx context.Context, a store.Audit, id store.OperationID) error
	CancelOperation(ctx context.Context, a store.Audit, id store.OperationID) error
}

var (
	_ desk = (*remote.Client)(nil)
	_ desk = database{}
)

// database is a store as a desk.
type database struct{ operations.Store }

// Status returns the state of all boxes, or of one.
func (d database) Status(ctx context.Context, box string) (*operations.Status, error) {
	o, err := d.Look(ctx, box)
	if err != nil {
		return nil, err
	}
	return operations.StatusOf(&o, nil), nil
}

// Watch returns what looks again and again, with the rates since the look before.
func (d database) Watch(box string) func(context.Context) (*operations.Status, error) {
	var last *store.Overview
	return func(ctx context.Context) (*operations.Status, error) {
		o, err := d.Look(ctx, box)
		if err != nil {
			return nil, err
		}
		v := operations.StatusOf(&o, last)
		last = &o
		return v, nil
	}
}

// Subscriptions returns those of all boxes, or of one.
func (d database) Subscriptions(ctx context.Context, box string) (*operations.SubscriptionList, error) {
	o, err := d.Look(ctx, box)
	if err != nil {
		return nil, err
	}
	return operations.Subscriptions(&o), nil
}

// Subscription returns one, with the settings that the store keeps of it.
func (d database) Subscription(ctx context.Context, r store.Ref) (*operations.SubscriptionDetail, []operations.Setting, error) {
	l, err := d.Subscriptions(ctx, r.Box)
	if err != nil {
		return nil, nil, err
	}
	one, err := l.Find(r)
	if err != nil {
		return nil, nil, err
	}
	return one, one.Stored(), nil
}

// Messages shows those that match, page by page.
func (d database) Messages(ctx context.Context, q store.Query, limit int, see func([]operations.Message) error) (operations.Listing, error) {
	return d.messages(ctx, q, limit, false, see)
}

func (d database) messages(ctx context.Context, q store.Query, limit int, payload bool, see func([]operations.Message) error) (operations.Listing, error) {
	return d.Each(ctx, q, limit, func(items []store.Item) error { return see(views(q.Box, items, payload)) })
}

// Message returns the copies of a message. Nothing of it is hidden.
func (d database) Message(ctx context.Context, r store.Ref, id postbag.ID) (all []operations.Message, hidden []string, err error) {
	items, err := d.Find(ctx, r, id)
	return views(r.Box, items, true), nil, err
}

// views are messages as programs see them.
func views(box string, items []store.Item, payload bool) []operations.Message {
	all := make([]operations.Message, len(items))
	for i := range items {
		all[i] = operations.MessageOf(box, &items[i], payload)
	}
	return all
}

// at has do work at what the flags name: a console, or a database.
func (f *storeFlags) at(ctx context.Context, do func(desk) error) (err error) {
	if f.server.given(f) {
		return f.server.at(ctx, func(c *remote.Client) error { return do(c) })
	}
	return f.operate(ctx, func(s operations.Store) error { return do(database{s}) })
}
