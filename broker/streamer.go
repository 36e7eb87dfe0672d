package broker

import "context"

// Streamer is implemented by a destination that learns the fates of a call's
// messages one by one. The relay then uses Stream in place of Publish, so that a
// message whose answer is late holds up neither the others of its call nor what
// comes behind them.
type Streamer interface {
	Destination
	// Stream is Publish, but for the answers: report is called at most once a
	// message, from any goroutine, as soon as its fate is known, and never after
	// Stream returned. What is not reported is Unknown.
	Stream(ctx context.Context, msgs []Delivery, report func(i int, r Result))
}
