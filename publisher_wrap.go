package postbag

import (
	"context"
	"slices"
)

// JoinWraps joins several functions for PublisherOptions.Wrap into one. Of several, the
// first sees the messages first, and the result last. Nil ones are left out. Without any it
// returns nil.
func JoinWraps(all ...func(next PublishFunc) PublishFunc) func(next PublishFunc) PublishFunc {
	all = slices.DeleteFunc(slices.Clone(all), func(w func(PublishFunc) PublishFunc) bool { return w == nil })
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return func(next PublishFunc) PublishFunc {
		for _, w := range slices.Backward(all) {
			if next = w(next); next == nil {
				return nil // Publish says what is wrong
			}
		}
		return next
	}
}

// WrapEach makes a function for PublisherOptions.Wrap out of one for single messages. each
// is called for every message of a call, in their sequence, before any is written. It may
// change the message, as Wrap may. An error fails Publish, as a MessageError whose Err it
// is, and nothing is written. All messages are looked at first. The error's text becomes
// part of that of Publish, so it quotes no payload, key or header value.
func WrapEach(each func(ctx context.Context, m *Message) error) func(next PublishFunc) PublishFunc {
	if each == nil {
		return nil
	}
	return func(next PublishFunc) PublishFunc {
		return func(ctx context.Context, msgs []Message) error {
			own, found := slices.Clone(msgs), faults{}
			for i := range own {
				if err := each(ctx, &own[i]); err != nil {
					found.add(&MessageError{Index: i, Field: "WrapEach", Reason: "refuses it: " + err.Error(), Err: err})
				}
			}
			if err := found.err(); err != nil {
				return err
			}
			return next(ctx, own)
		}
	}
}
