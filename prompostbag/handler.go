package prompostbag

import (
	"context"
	"time"

	"github.com/postbag/postbag/inbox"
)

// Handler returns middleware that measures how long a handler takes for a message, in postbag_handler_duration_seconds with this label. A
// call that fails or panics counts, too. Put it first into Use of a consumer or a destination. The commit of the transaction is not in it.
func Handler[Tx any](o *Observer, consumer string) inbox.Middleware[Tx] {
	took := o.handlers.WithLabelValues(consumer)
	return func(next inbox.Handler[Tx]) inbox.Handler[Tx] {
		return func(ctx context.Context, tx Tx, m *inbox.Message) error {
			begun := time.Now()
			defer func() { took.Observe(time.Since(begun).Seconds()) }()
			return next(ctx, tx, m)
		}
	}
}

// BatchHandler is [Handler], of a handler of pages: each call counts once, however many messages it has.
func BatchHandler[Tx any](o *Observer, consumer string) inbox.BatchMiddleware[Tx] {
	took := o.handlers.WithLabelValues(consumer)
	return func(next inbox.BatchHandler[Tx]) inbox.BatchHandler[Tx] {
		return func(ctx context.Context, tx Tx, all []*inbox.Message) error {
			begun := time.Now()
			defer func() { took.Observe(time.Since(begun).Seconds()) }()
			return next(ctx, tx, all)
		}
	}
}
