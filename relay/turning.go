package relay

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/failpoint"
	"github.com/postbag/postbag/store"
)

// turning is the round of settling and reading under way.
type turning struct {
	out        bool
	repeat     *round        // failed, and to be made again as it was
	nextLook   time.Duration // when to look at the store's epoch if nothing else does
	turns      int64
	generation int // grows when what was read became worthless
}

// round is a turn of all flows together: they share the round trip.
type round struct {
	turn       store.Turn
	parts      []part
	generation int
}

// part is one flow's share of a round.
type part struct {
	flow          *flow
	settles, asks int
}

// canTurn says that a turn may be made.
func (l *loop) canTurn(now time.Duration) bool {
	return !l.turning.out && !l.checking && now >= l.storeRetry
}

// turn makes a round if a flow has something for it, or it is time to look.
func (l *loop) turn(now time.Duration) {
	if !l.canTurn(now) {
		return
	}
	if l.doubted() {
		l.recheck()
		return
	}
	r := l.turning.repeat
	l.turning.repeat = nil
	if r == nil {
		r = l.compose(now)
	}
	if r == nil {
		return
	}
	l.turning.out = true
	l.turns++
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
		defer cancel()
		result, err := l.exchange(ctx, r)
		return func() { l.landed(r, &result, err) }
	})
}

// exchange is the round trip of a round, with points at which tests of faults end it.
func (l *loop) exchange(ctx context.Context, r *round) (result store.TurnResult, err error) {
	settles, reads := len(r.turn.Settle) > 0, len(r.turn.Read) > 0
	if settles {
		err = failpoint.Hit("relay/settle/before")
	}
	if reads && err == nil {
		err = failpoint.Hit("relay/fetch/before")
	}
	if err != nil {
		return result, err
	}
	if result, err = l.store.Turn(ctx, r.turn); err != nil {
		return result, err
	}
	if settles {
		err = failpoint.Hit("relay/settle/after")
	}
	if reads && err == nil {
		err = failpoint.Hit("relay/fetch/after")
	}
	return result, err
}

// compose collects what the flows have to settle and to read.
func (l *loop) compose(now time.Duration) *round {
	r := &round{generation: l.generation}
	for _, f := range l.flows {
		t := f.core.Turn(now)
		if t.Empty() {
			continue
		}
		for i := range t.Settle {
			r.turn.Settle = append(r.turn.Settle, settlement(f.ref, &t.Settle[i]))
		}
		for i := range t.Read {
			r.turn.Read = append(r.turn.Read, request(f.ref, &t.Read[i]))
		}
		r.parts = append(r.parts, part{flow: f, settles: len(t.Settle), asks: len(t.Read)})
	}
	if len(r.parts) == 0 && now < l.nextLook {
		return nil
	}
	return r
}

// landed hands the answer to the flows.
func (l *loop) landed(r *round, result *store.TurnResult, err error) {
	l.turning.out = false
	// From now on, as the flows count their pauses: a look of its own just before a read would be a turn for nothing.
	l.nextLook = l.now() + l.lookPause()
	if r.generation != l.generation {
		return
	}
	if err != nil {
		l.turnFailed(r, err)
		return
	}
	l.storeWorks(askTurn)
	now := l.now()
	if l.life != 0 && result.Life != 0 && result.Life != l.life { // what was read of another life may have a seq that is given out again
		l.restart()
		return
	}
	l.life = result.Life
	if result.Epoch != l.epoch {
		l.nextBeat = 0
	}
	settle, read := 0, 0
	for _, p := range r.parts {
		verdicts := result.Verdicts[settle : settle+p.settles]
		for i := range verdicts {
			if verdicts[i].Applied {
				l.noteDone(p.flow, r.turn.Settle[settle+i].Done)
			} else {
				l.nextBeat = 0 // nothing is sent until a heartbeat has told what is still ours
			}
		}
		pages := make([]engine.Page, p.asks)
		for i := range pages {
			pages[i] = l.page(p.flow, &result.Batches[read+i])
		}
		settle, read = settle+p.settles, read+p.asks
		p.flow.core.Landed(now, verdicts, pages)
		p.flow.core.NextDue(now, result.NextDue)
	}
	l.commands(result.Commands, now)
}

func (l *loop) turnFailed(r *round, err error) {
	if isMoved(err) {
		l.log.moved(err)
		l.storeMoved(askTurn)
		l.restart()
		return
	}
	l.turning.repeat = r
	l.storeFailed(askTurn, fmt.Errorf("relay: settling and reading failed: %w", err))
}

func settlement(ref store.Ref, s *engine.Settlement) store.Settlement {
	return store.Settlement{
		Lease: lease(ref, s.Lease), To: store.Position(s.To), Park: s.Park, Resolve: s.Resolve, Tally: s.Tally, Done: s.Done,
	}
}

func lease(ref store.Ref, s engine.Lease) store.Lease {
	return store.Lease{
		Shard: store.Shard{Ref: ref, Slots: store.Slots{Lo: s.Lo, Hi: s.Hi}},
		Token: s.Token, Version: s.Version,
	}
}

func request(ref store.Ref, r *engine.Request) store.Request {
	return store.Request{
		Ref: ref, Slots: slots(r.Slots), From: store.Position(r.From), Until: store.Position(r.Until),
		Limit: r.Limit, Bytes: r.Bytes,
	}
}

func slots(ranges [][2]int) []store.Slots {
	out := make([]store.Slots, len(ranges))
	for i, r := range ranges {
		out[i] = store.Slots{Lo: r[0], Hi: r[1]}
	}
	return out
}

// page is a batch as the engine takes it.
func (l *loop) page(f *flow, b *store.Batch) engine.Page {
	if b.Err != nil {
		l.log.readFailed(f.ref, b.Err)
		return engine.Page{Failed: true}
	}
	l.log.readWorks(f.ref)
	p := engine.Page{
		Next: string(b.Next), More: b.More, Whole: b.Whole, Ahead: b.Ahead,
		At:       func(i int) string { return string(b.At(i)) },
		Messages: make([]engine.Message, len(b.Records)),
	}
	for i := range b.Records {
		p.Messages[i] = message(&b.Records[i])
	}
	return p
}

// message is what the engine needs to know of a record, which rides along.
func message(r *store.Record) engine.Message {
	m := engine.Message{
		Seq: r.Seq, Slot: r.Slot, Key: r.Hash, Topic: r.Topic, Size: r.Size(),
		Sum: binary.BigEndian.Uint64(r.ID[8:]), Filtered: r.Filtered, Tag: r,
	}
	if r.Err != nil {
		m.Unreadable = reasonOf("the row cannot be read: " + r.Err.Error() + "; repair it, then retry the message, or discard it")
	}
	return m
}

// letGo frees the bytes of a record that is not needed any more: others of its page may
// be, and its array with them. What names the message stays.
func letGo(tag any) {
	r := tag.(*store.Record) //nolint:forcetypeassert,errcheck // put there by message
	r.Payload, r.Headers, r.Key, r.ShardKey, r.Type = nil, nil, "", "", ""
}

// commands hands operators' commands to their flows.
func (l *loop) commands(all []store.Command, now time.Duration) {
	for i := range all {
		c := &all[i]
		f := l.byRef[c.Ref]
		if f == nil {
			continue
		}
		l.noteCommand(c)
		park := c.Park
		park.Delay = 0 // it is due now
		f.core.Commands(now, []engine.Command{{
			ID: c.ID, Kind: c.Kind,
			Message: engine.Message{
				Seq: park.Seq, Slot: park.Slot, Key: park.Hash, Sum: binary.BigEndian.Uint64(c.Message[8:]),
			},
			Park: park,
		}})
	}
}
