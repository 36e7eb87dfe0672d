package natsbroker

import "github.com/postbag/postbag/source/sourcekit"

// atWork are the messages that are at work: their sequence in the stream, and where to ack
// them.
type (
	atWork   = sourcekit.AtWork[uint64, string]
	delivery = sourcekit.Delivery[uint64, string]
)
