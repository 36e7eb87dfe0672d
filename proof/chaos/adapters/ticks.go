package adapters

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/proof/chaos"
)

// A broker that keeps no times has a clock tick into it beside the relays. A tick says when it was sent, and is sent when the one before
// it is confirmed: so a message was stored after the time of the tick before it, and before the time of the second tick behind it.
const (
	tickEvery = 50 * time.Millisecond
	tickType  = "tick"
)

// mostUnacked is how many messages a reader is sent, or gives out, at a time.
const mostUnacked = 5000

var (
	// errBehind says that it is not known whether all was read.
	errBehind = errors.New("adapters: what the broker holds was not read to its end")
	errHungUp = errors.New("adapters: the reader's connection was lost")
)

// gather is More over what comes with ticks between: receive takes it and returns what has its second tick by now, and readTo says
// whether that was all that was stored before a time.
func gather[M any](ctx context.Context, came <-chan M, receive func(M) ([]chaos.Arrival, error), readTo func(time.Time) bool) (out []chaos.Arrival, err error) {
	asked := time.Now()
	enough, end := time.NewTimer(300*time.Millisecond), time.NewTimer(2*time.Second)
	defer enough.Stop()
	defer end.Stop()
	for {
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-end.C:
			return out, errBehind
		case <-enough.C:
			if len(out) > 0 {
				return out, nil
			}
		case m, open := <-came:
			if !open {
				return out, errHungUp
			}
			ready, err := receive(m)
			if out = append(out, ready...); err != nil || len(out) > mostUnacked {
				return out, err
			}
		}
		if len(out) == 0 && readTo(asked) {
			return nil, nil
		}
	}
}
