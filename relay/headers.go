package relay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// Box is what holds for all subscriptions of a box. The zero Box sets nothing.
type Box struct {
	// Headers are added at delivery to each message that does not have them, behind those
	// of its subscription. See Subscription.Headers. Defaults to none.
	Headers map[string]string
	// Retention is how long messages of the box stay, by what became of them. What it says is
	// at least store.LeastLifetime, and Discarded not less than Delivered. The store holds it
	// for the box, so it does not matter which relay does the housekeeping. Of relays that
	// say different times the longer one holds; a shorter one is taken when no relay has said
	// the longer one for an hour. What an operator sets comes first (postbag retention set).
	// Defaults to nothing said: the box then goes by what others have said, or keeps
	// delivered and discarded messages for 72 h and dead ones until somebody discards them.
	Retention store.Lifetimes
}

// defaultHeaders returns a copy of both, in which those of the subscription take
// precedence, or everything that is wrong with them.
func defaultHeaders(box, subscription map[string]string) (map[string]string, error) {
	var errs []error
	if err := postbag.ValidHeaders(box); err != nil {
		errs = append(errs, fmt.Errorf("Headers of its box: %w", err))
	}
	if err := postbag.ValidHeaders(subscription); err != nil {
		errs = append(errs, fmt.Errorf("Headers: %w", err))
	}
	both := overlaid(box, subscription)
	if len(errs) == 0 {
		if err := postbag.ValidHeaders(both); err != nil {
			errs = append(errs, fmt.Errorf("Headers and those of its box together: %w", err))
		}
	}
	return maps.Clone(both), errors.Join(errs...)
}

// overlaid returns own with what is missing in it taken from base. It changes neither,
// and may return either: the result is only to be read.
func overlaid(base, own map[string]string) map[string]string {
	switch {
	case len(base) == 0:
		return own
	case len(own) == 0:
		return base
	}
	both := make(map[string]string, len(base)+len(own))
	maps.Copy(both, base)
	maps.Copy(both, own)
	return both
}

// addHeaders returns middleware that adds default headers to messages that lack them. No
// headers give nil middleware.
func addHeaders(base map[string]string) broker.Middleware {
	if len(base) == 0 {
		return nil
	}
	return func(next broker.Destination) broker.Destination { return headed{next, base} }
}

// headed is a destination behind default headers.
type headed struct {
	broker.Destination

	base map[string]string
}

// Publish implements broker.Destination.
func (h headed) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	msgs = slices.Clone(msgs)
	for i := range msgs {
		msgs[i].Headers = overlaid(h.base, msgs[i].Headers)
	}
	h.Destination.Publish(ctx, msgs, report)
}
