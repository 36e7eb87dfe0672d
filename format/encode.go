package format

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/postbag/postbag/broker"
)

// Encode returns middleware that encodes each message before the next stage sees it:
//
//	dest = broker.Wrap(dest, format.Encode(format.CloudEvents{}))
//
// Features are those of the next stage. MaxBytes is zero unless the encoder has a method
// KeepsPayload() bool that returns true: otherwise nobody knows how much the encoder
// adds. A nil encoder gives nil middleware, which broker.Wrap leaves out.
//
// If a message cannot be encoded, or the encoder panics, the message is Rejected, and the
// next stage does not see it. Later messages of its key in the call are NotSent, and a
// transaction with it is aborted. If the encoder has a method Validate() error, and that
// returns an error, every message is Misconfigured.
func Encode(encoder broker.Encoder) broker.Middleware {
	if encoder == nil {
		return nil
	}
	invalid := Validate(encoder)
	return func(next broker.Destination) broker.Destination {
		return &destination{Destination: next, encoder: encoder, invalid: invalid}
	}
}

// Validate returns what an encoder's own method Validate() error says, nil if it
// has none.
func Validate(encoder broker.Encoder) error {
	if v, ok := encoder.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

type destination struct {
	broker.Destination

	encoder broker.Encoder
	invalid error // why the encoder cannot be used

	once     sync.Once
	features broker.Features
	binding  string
}

// Features implements broker.Destination.
func (d *destination) Features() broker.Features {
	d.once.Do(func() {
		d.features = d.Destination.Features()
		d.binding = d.features.Binding
		if k, ok := d.encoder.(interface{ KeepsPayload() bool }); !ok || !k.KeepsPayload() {
			d.features.MaxBytes = 0
		}
	})
	return d.features
}

// Publish implements broker.Destination.
func (d *destination) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	encoded, places := d.encode(msgs, report, broker.InTransaction(ctx))
	switch {
	case len(encoded) == 0 && len(msgs) > 0:
	case places == nil:
		d.Destination.Publish(ctx, encoded, report)
	default:
		d.Destination.Publish(ctx, encoded, func(i int, r broker.Result) { report(places[i], r) })
	}
}

// encode returns the messages that can be sent, and their places in msgs, nil if
// they are all there. The others are reported. In a transaction, which stores all or
// nothing, every message is tried, whatever became of those before it.
func (d *destination) encode(msgs []broker.Delivery, report func(i int, r broker.Result), together bool) (encoded []broker.Delivery, places []int) {
	encoded = make([]broker.Delivery, 0, len(msgs))
	var k keys
	for i := range msgs {
		encoded = append(encoded, msgs[i])
		m := &encoded[len(encoded)-1]
		var r broker.Result
		if together {
			r = d.attempt(m)
		} else {
			r = d.attemptInOrder(&k, msgs[:i], m)
		}
		if r.Err != nil {
			encoded = encoded[:len(encoded)-1]
			k.block(msgs[i].Key)
			report(i, r)
			if places == nil {
				places = countUpTo(i, len(msgs))
			}
			continue
		}
		if places != nil {
			places = append(places, i)
		}
	}
	return encoded, places
}

// attemptInOrder encodes m, unless one of its key before it was not.
func (d *destination) attemptInOrder(k *keys, before []broker.Delivery, m *broker.Delivery) broker.Result {
	key := m.Key
	if r := k.blocked(key); r.Err != nil {
		return r
	}
	if r := d.attempt(m); r.Err != nil {
		return r
	}
	return k.changed(before, key, m.Key)
}

func countUpTo(n, room int) []int {
	places := make([]int, n, room)
	for i := range places {
		places[i] = i
	}
	return places
}

// attempt encodes m. The zero Result says that it did.
func (d *destination) attempt(m *broker.Delivery) broker.Result {
	if d.invalid != nil {
		return broker.Result{Outcome: broker.Misconfigured, Err: d.invalid}
	}
	d.Features()
	return d.one(m)
}

func (d *destination) one(m *broker.Delivery) (r broker.Result) {
	defer func() {
		if v := recover(); v != nil { // its value may hold anything
			r = broker.Result{Outcome: broker.Rejected, Err: fmt.Errorf("format: the encoder panicked (%T); fix it, then retry the message", v)}
		}
	}()
	own := m.Headers
	m.Headers = broker.WithoutProperties(own)
	defer func() { m.Headers = own }() // the destination obeys its properties
	if err := d.encoder.Encode(m, d.binding); err != nil {
		return refusal(err)
	}
	if m.Wire == nil {
		return broker.Result{Outcome: broker.Rejected, Err: errNoWire}
	}
	return broker.Result{}
}

func refusal(err error) broker.Result {
	outcome := broker.Rejected
	if said := broker.OutcomeOf(err); said == broker.Misconfigured || said == broker.Unavailable {
		outcome = said
	}
	return broker.Result{Outcome: outcome, Err: err}
}

// keys keeps the order of the messages' keys within a call whatever the encoder
// makes of them. The zero keys has blocked nothing and seen no key changed.
type keys struct {
	stopped  map[string]bool
	made, of map[string]string // both ways, once a key was changed
}

func (k *keys) blocked(key string) broker.Result {
	if key != "" && k.stopped[key] {
		return broker.Result{Outcome: broker.NotSent, Err: errBehind}
	}
	return broker.Result{}
}

func (k *keys) block(key string) {
	if key == "" {
		return
	}
	if k.stopped == nil {
		k.stopped = map[string]bool{}
	}
	k.stopped[key] = true
}

// changed holds back a message if the destination would not see that it has the
// key of an earlier one, or would take it for one of another's key.
func (k *keys) changed(before []broker.Delivery, key, made string) broker.Result {
	if k.made == nil {
		if key == made {
			return broker.Result{}
		}
		k.made, k.of = make(map[string]string, 2*len(before)+1), make(map[string]string, 2*len(before)+1)
		for i := range before {
			k.made[before[i].Key], k.of[before[i].Key] = before[i].Key, before[i].Key
		}
	}
	if as, seen := k.made[key]; seen && key != "" && as != made {
		return broker.Result{Outcome: broker.NotSent, Err: errOtherKey}
	}
	if whose, seen := k.of[made]; seen && made != "" && whose != key {
		return broker.Result{Outcome: broker.NotSent, Err: errOtherKey}
	}
	k.made[key], k.of[made] = made, key
	return broker.Result{}
}

var (
	errNoWire   = errors.New("format: the encoder set no Wire; set one, empty if there are no headers")
	errBehind   = errors.New("format: an earlier message of the key was not sent; send this one after it")
	errOtherKey = errors.New("format: the encoder made one key of two or two of one; send the message after those before it")
)
