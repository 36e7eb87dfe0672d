package pgstore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Due implements store.Store.
func (s *Store) Due(ctx context.Context, d store.Due) ([]store.Parked, error) {
	if d.Limit <= 0 || d.Bytes <= 0 || d.Followers < 0 {
		return nil, fmt.Errorf("pgstore: due: limit %d, bytes %d, followers %d; use positive limits", d.Limit, d.Bytes, d.Followers)
	}
	var out []store.Parked
	err := s.guarded(ctx, func(v *server) error {
		sub, err := s.subscription(ctx, d.Ref)
		if err != nil {
			return err
		}
		shards := sub.overlapping(nil, d.Slots...)
		a := new(parameters).int4s(len(shards), func(i int) int32 { return shards[i] })
		a.int4(int32(d.Limit)).int4(int32(d.Followers))
		a.int8s(len(d.Skip), func(i int) int64 { return d.Skip[i] })
		a.int8(int64(d.Bytes)).bytes(mask(d.Slots)).int4(sub.box.id)
		statement := "due"
		if len(d.Topics) > 0 {
			statement = "due_held"
			a.texts(len(d.Topics), func(i int) string { return d.Topics[i] })
		}
		return s.run(ctx, s.guard(v, "", nil), call{
			st: s.statements.get(statement, d.Box), args: a,
			reset: func() { out = nil },
			each: func(r row) error {
				p, err := readParked(r, d.Box)
				out = append(out, p)
				return err
			},
		})
	})
	if err != nil {
		return nil, translateError("due of "+d.Ref.String(), err)
	}
	return out, nil
}

// readParked reads a parked row with its message.
func readParked(r row, box string) (store.Parked, error) {
	c := columns{rest: r}
	p := store.Parked{Park: c.park()}
	p.First = c.duration()
	at := c.int8()
	p.Record = store.Record{Seq: p.Park.Seq, Slot: p.Park.Slot, At: instant(at)}
	p.ID = postbag.ID(c.id())
	p.Message.Topic, p.Key, p.ShardKey, p.Type = c.text(), c.text(), c.text(), c.text()
	headers := c.text()
	p.Payload = []byte(c.text())
	if c.err != nil {
		return p, c.err
	}
	p.Record.Hash = store.KeyHash(p.Key)
	if p.Message.Topic == "" {
		p.Message.Topic = box
	}
	if headers != "" {
		p.Headers, p.Err = readHeaders(headers)
	}
	return p, nil
}

// park reads the columns of a parked row that describe it.
func (c *columns) park() store.Park {
	return store.Park{
		Seq: c.int8(), Slot: c.int2(), Hash: uint64(c.int8()), State: store.ParkState(c.int2()), Blocking: c.bool(),
		Attempts: int(c.int4()), Delay: c.duration(), Reason: c.text(), Topic: c.text(),
	}
}

// Blocked implements store.Store.
func (s *Store) Blocked(ctx context.Context, l store.Lease) (store.Blocks, error) {
	var out store.Blocks
	err := s.guarded(ctx, func(v *server) error {
		if _, err := s.subscription(ctx, l.Ref); err != nil {
			return err
		}
		held := false
		lease := func() *parameters {
			return new(parameters).text(l.Box).text(l.Subscription).int4(int32(l.Lo)).int4(int32(l.Hi)).int8(l.Token)
		}
		err := s.run(ctx, s.guard(v, "", nil), call{
			st: s.statements.get("blocked", ""), args: lease(),
			reset: func() { out, held = store.Blocks{}, false },
			each: func(r row) error {
				held = true
				if r[0] == nil {
					return nil
				}
				c := columns{rest: r}
				out.Keys = append(out.Keys, uint64(c.int8()))
				return c.err
			},
		}, call{
			st: s.statements.get("held_topics", ""), args: lease(),
			each: func(r row) error {
				c := columns{rest: r}
				out.Held = append(out.Held, store.HeldTopic{Topic: c.text(), Messages: c.int8()})
				return c.err
			},
		}, call{
			st: s.statements.get("waiting", ""), args: lease(),
			each: func(r row) error {
				c := columns{rest: r}
				out.Waiting = append(out.Waiting, store.Waiting{Hash: uint64(c.int8()), Seq: c.int8()})
				return c.err
			},
		})
		if err == nil && !held {
			return store.ErrLeaseLost
		}
		return err
	})
	if err != nil {
		return store.Blocks{}, translateError("blocked keys of "+l.Shard.String(), err)
	}
	return out, nil
}

// subscription returns what the catalog has of one, reading it again if it has
// nothing.
func (s *Store) subscription(ctx context.Context, r store.Ref) (*catalogSubscription, error) {
	known, err := s.known(ctx)
	if err == nil && known.subs[r] == nil {
		known, err = s.readCatalog(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case known.subs[r] != nil:
		return known.subs[r], nil
	case known.boxes[r.Box] == nil:
		return nil, store.ErrNoBox
	default:
		return nil, store.ErrNoSubscription
	}
}
