package adapters

import (
	"errors"
	"time"
)

// A broker that keeps no times has a clock tick into it beside the relays. A tick says when it was sent, and is sent when the one before
// it is confirmed: so a message was stored after the time of the tick before it, and before the time of the second tick behind it.
const (
	tickEvery = 50 * time.Millisecond
	tickType  = "tick"
)

// mostUnacked is how many messages a reader is sent, or gives out, at a time.
const mostUnacked = 5000

// errBehind says that it is not known whether all was read.
var errBehind = errors.New("adapters: what the broker holds was not read to its end")
