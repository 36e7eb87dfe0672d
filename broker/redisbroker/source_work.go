package redisbroker

import (
	"time"

	"github.com/postbag/postbag/source/sourcekit"
)

// spot is where an entry is: the number of its stream among the source's, and its id.
type spot struct {
	stream int
	id     string
}

// atWork are the messages that are at work. All are of one assignment, since a loss is
// remembered of each message.
type (
	atWork  = sourcekit.AtWork[spot, struct{}]
	working = sourcekit.Delivery[spot, struct{}]
)

func newAtWork(ackWait time.Duration) *atWork {
	w := sourcekit.NewAtWork[spot, struct{}]()
	w.AckWait = ackWait
	return w
}
