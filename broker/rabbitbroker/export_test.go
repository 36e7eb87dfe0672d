package rabbitbroker

import (
	"context"

	"github.com/postbag/postbag/broker"
)

// PublishUnchecked is d.Publish without the checks that come before sending.
func PublishUnchecked(ctx context.Context, d *Destination, msgs []broker.Delivery, results []broker.Result) {
	d.publish(ctx, msgs, func(i int, r broker.Result) { results[i] = r }, d.address)
}
