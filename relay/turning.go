package relay

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/internal/failpoint"
	"github.com/postbag/postbag/store"
)

// turn makes a round.
func (l *loop) turn(r *core.Round) {
	t := turnOf(r)
	l.start(func() func() {
		ctx, cancel := context.WithTimeout(l.ctx, storeTimeout)
		defer cancel()
		result, err := l.exchange(ctx, &t)
		return func() { l.landed(r, &result, err) }
	})
}

// turnOf is a round as the store takes it.
func turnOf(r *core.Round) (t store.Turn) {
	for i := range r.Parts {
		p := &r.Parts[i]
		for j := range p.Turn.Settle {
			t.Settle = append(t.Settle, settlement(p.Flow.Ref, &p.Turn.Settle[j]))
		}
		for j := range p.Turn.Read {
			t.Read = append(t.Read, request(p.Flow.Ref, &p.Turn.Read[j]))
		}
	}
	return t
}

// exchange is the round trip of a round, with points at which tests of faults end it.
func (l *loop) exchange(ctx context.Context, t *store.Turn) (result store.TurnResult, err error) {
	settles, reads := len(t.Settle) > 0, len(t.Read) > 0
	if settles {
		err = failpoint.Hit("relay/settle/before")
	}
	if reads && err == nil {
		err = failpoint.Hit("relay/fetch/before")
	}
	if err != nil {
		return result, err
	}
	if result, err = l.store.Turn(ctx, *t); err != nil {
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

// landed hands on the answer to a round.
func (l *loop) landed(r *core.Round, result *store.TurnResult, err error) {
	now := l.now()
	waited := r.Generation == l.core.Generation()
	var landing core.Landing
	if err == nil && waited {
		landing = l.landing(r, result)
	}
	switch taken := l.core.Landed(now, r, faultOf(err), &landing); {
	case taken:
		l.noteDone(r, result.Verdicts)
		l.commands(result.Commands, now)
	case !waited:
	case isMoved(err):
		l.log.moved(err)
	case err != nil:
		l.storeFailed(fmt.Errorf("relay: settling and reading failed: %w", err))
	}
	l.carryOut(now)
}

// landing is the answer to a round as the core takes it.
func (l *loop) landing(r *core.Round, result *store.TurnResult) core.Landing {
	pages := make([]engine.Page, 0, len(result.Batches))
	for i := range r.Parts {
		p := &r.Parts[i]
		for range p.Turn.Read {
			page, f := l.page(p.Flow.Ref, &result.Batches[len(pages)]), l.flowOf(p.Flow)
			for k := range page.Messages {
				l.noteUnreadable(f, &page.Messages[k], 1)
			}
			pages = append(pages, page)
		}
	}
	return core.Landing{Verdicts: result.Verdicts, Pages: pages, NextDue: result.NextDue, Epoch: result.Epoch, Life: result.Life}
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
func (l *loop) page(ref store.Ref, b *store.Batch) engine.Page {
	if b.Err != nil {
		l.log.readFailed(ref, b.Err)
		return engine.Page{Failed: true}
	}
	l.log.readWorks(ref)
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
		f.Engine.Commands(now, []engine.Command{{
			ID: c.ID, Kind: c.Kind,
			Message: engine.Message{
				Seq: park.Seq, Slot: park.Slot, Key: park.Hash, Sum: binary.BigEndian.Uint64(c.Message[8:]),
			},
			Park: park,
		}})
	}
}
