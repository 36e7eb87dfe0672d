package relay

import (
	"errors"
	"fmt"
)

// Rate bounds what a subscription sends. Each message counts as often as it is sent. The
// zero Rate bounds nothing, and costs nothing.
//
// What was not sent in quiet times may be sent later, up to a burst. In any time no more is sent than the burst and the
// rate allow. Messages wait in the box meanwhile, and keep their order: the relay reads about a second ahead.
type Rate struct {
	// Messages is how many go in a second. It may be below 1. Zero: any number.
	Messages float64
	// Bytes is how many bytes of payloads, headers and keys go in a second, as they are in the box: what Headers, Render
	// and Encoder make of them does not count. Zero: any number.
	Bytes float64
	// Burst is how many messages may go at once after a quiet time. Defaults to those of a second, at least 1.
	Burst int
	// BurstBytes is the same of bytes. A message that is larger goes too, after a quiet time; others wait until the rate
	// has made up for it. Defaults to those of a second.
	BurstBytes int
	// Shared: the rate is that of the whole subscription, however many relays work it. Each takes the part that its shards
	// are of all slots, and they need not talk for that. False: each relay has the rate for itself.
	//
	// Shards that a relay takes over bring no burst with them, so a takeover lets nothing more through. At any time each
	// relay may be one message above its part. If clocks of relays run at different speeds, so do their parts. While relays
	// disagree who has a shard, which a clock of the store that jumps can cause, at most its part of the rate goes twice.
	Shared bool
}

// The most that a rate may be.
const (
	mostMessages   = 1e9
	mostBytes      = 1e12
	mostBurst      = 1_000_000_000
	mostBurstBytes = 1 << 30
)

// validate reports everything that is wrong.
func (r *Rate) validate() error {
	var errs []error
	if !(r.Messages >= 0 && r.Messages <= mostMessages) { // not a number is out of every range
		errs = append(errs, fmt.Errorf("Rate.Messages is %v; choose between 0 (no limit) and %v", r.Messages, mostMessages))
	}
	if !(r.Bytes >= 0 && r.Bytes <= mostBytes) {
		errs = append(errs, fmt.Errorf("Rate.Bytes is %v; choose between 0 (no limit) and %v", r.Bytes, mostBytes))
	}
	if r.Burst < 0 || r.Burst > mostBurst {
		errs = append(errs, fmt.Errorf("Rate.Burst is %d; choose between 0 (the messages of a second) and %d", r.Burst, mostBurst))
	}
	if r.BurstBytes < 0 || r.BurstBytes > mostBurstBytes {
		errs = append(errs, fmt.Errorf("Rate.BurstBytes is %d; choose between 0 (the bytes of a second) and %d", r.BurstBytes, mostBurstBytes))
	}
	if r.Burst > 0 && r.Messages == 0 {
		errs = append(errs, errors.New("Rate.Burst bounds nothing without Rate.Messages; set both, or none"))
	}
	if r.BurstBytes > 0 && r.Bytes == 0 {
		errs = append(errs, errors.New("Rate.BurstBytes bounds nothing without Rate.Bytes; set both, or none"))
	}
	if r.Shared && r.Messages == 0 && r.Bytes == 0 {
		errs = append(errs, errors.New("Rate.Shared shares nothing; set Rate.Messages or Rate.Bytes"))
	}
	return errors.Join(errs...)
}
