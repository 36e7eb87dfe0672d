package pgstore

import (
	"context"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// commands returns the commands that wait in some scopes: those about messages that
// are not parked, and then the oldest of the others. Those about messages that were
// passed, or are gone, are closed.
func (s *Store) commands(ctx context.Context, sc *scopes) ([]store.Command, error) {
	w := &commanding{s: s, sc: sc, stands: map[int32]*follower{}}
	if err := w.read(ctx); err != nil {
		return nil, err
	}
	if err := w.topics(ctx); err != nil {
		return nil, err
	}
	out, passed, err := w.sort()
	if err != nil || len(passed) == 0 {
		return out, err
	}
	return out, s.run(ctx, call{
		st: s.statements.get("close_commands", ""), args: new(parameters).int8s(len(passed), func(i int) int64 { return passed[i] }),
	})
}

// commanding is a reading of commands at work.
type commanding struct {
	s       *Store
	sc      *scopes
	pending []pendingCommand
	parked  []store.Command
	stands  map[int32]*follower // by subscription
}

// pendingCommand is a command about a message that is not parked, with its row.
type pendingCommand struct {
	store.Command

	sub   int32
	there bool
	row   scannedRow
}

// read reads the commands before where the shards stand, so that what is passed by then
// was passed, or parked.
func (w *commanding) read(ctx context.Context) error {
	refs := map[int32]store.Ref{}
	boxes := map[string]int32{}
	for _, sub := range w.sc.subs {
		refs[sub.id] = sub.ref
		boxes[sub.ref.Box] = sub.box.id
	}
	var calls []call
	for name, id := range boxes {
		calls = append(calls, call{
			st: w.s.statements.get("pending_commands", name), args: w.ranges().int4(id),
			reset: func() { w.pending = nil },
			each: func(r row) error {
				c := columns{rest: r}
				p := pendingCommand{Command: store.Command{ID: store.CommandID(c.int8())}, there: r[5] != nil}
				p.sub = c.int4()
				p.Ref, p.Kind = refs[p.sub], store.CommandKind(c.int2())
				p.Park.Seq, p.Park.Slot = c.int8(), c.int2()
				if p.there {
					p.row = scannedRow{seq: p.Park.Seq, slot: p.Park.Slot, xid: uint64(c.int8()), id: c.id()}
					p.Message, p.Park.Hash = postbag.ID(p.row.id), store.KeyHash(c.text())
					p.Topic = c.text()
				}
				w.pending = append(w.pending, p)
				return c.err
			},
		})
	}
	calls = append(calls, w.shardStandings(), call{
		st: w.s.statements.get("commands", ""), args: w.ranges(),
		reset: func() { w.parked = nil },
		each: func(r row) error {
			c := columns{rest: r}
			command := store.Command{ID: store.CommandID(c.int8()), Ref: refs[c.int4()], Kind: store.CommandKind(c.int2())}
			command.Park = c.park()
			command.Message = postbag.ID(c.id())
			w.parked = append(w.parked, command)
			return c.err
		},
	})
	return w.s.run(ctx, calls...)
}

// topics reads the topics of parked messages, which are in the log or copied from it.
func (w *commanding) topics(ctx context.Context) error {
	of := map[string][]int{} // places in parked, by box
	for i := range w.parked {
		of[w.parked[i].Box] = append(of[w.parked[i].Box], i)
	}
	var calls []call
	for name, places := range of {
		bySeq := map[int64][]int{}
		for _, i := range places {
			bySeq[w.parked[i].Park.Seq] = append(bySeq[w.parked[i].Park.Seq], i)
		}
		args := new(parameters).int8s(len(places), func(i int) int64 { return w.parked[places[i]].Park.Seq })
		calls = append(calls, call{
			st: w.s.statements.get("command_rows", name), args: args.int4(w.box(name)),
			each: func(r row) error {
				c := columns{rest: r}
				seq := c.int8()
				_, id, _, _, topic := c.int8(), c.id(), c.int2(), c.int8(), c.text()
				for _, i := range bySeq[seq] {
					if w.parked[i].Message == postbag.ID(id) {
						w.parked[i].Topic = topic
					}
				}
				return c.err
			},
		})
	}
	if len(calls) == 0 {
		return nil
	}
	return w.s.run(ctx, calls...)
}

// box returns the number of a box of the scopes.
func (w *commanding) box(name string) int32 {
	for _, sub := range w.sc.subs {
		if sub.ref.Box == name {
			return sub.box.id
		}
	}
	return 0
}

// ranges are the scopes as three parameters.
func (w *commanding) ranges() *parameters {
	n := len(w.sc.subs)
	a := new(parameters).int4s(n, func(i int) int32 { return w.sc.subs[i].id })
	a.int2s(n, func(i int) int { return w.sc.slots[i].Lo })
	a.int2s(n, func(i int) int { return w.sc.slots[i].Hi })
	return a
}

// shardStandings reads where the shards of the scopes' subscriptions stand.
func (w *commanding) shardStandings() call {
	var ids []int32
	for _, sub := range w.sc.subs {
		if !slices.Contains(ids, sub.id) {
			ids = append(ids, sub.id)
		}
	}
	return call{
		st: w.s.statements.get("command_shards", ""), args: new(parameters).int4s(len(ids), func(i int) int32 { return ids[i] }),
		reset: func() { clear(w.stands) },
		each: func(r row) error {
			c := columns{rest: r}
			id := c.int4()
			f := w.stands[id]
			if f == nil {
				f = &follower{id: id}
				w.stands[id] = f
			}
			f.addShard(c.int2(), c.int2(), c.text())
			return c.err
		},
	}
}

// sort returns the commands to bring, and the ids of those to be closed.
func (w *commanding) sort() (out []store.Command, passed []int64, err error) {
	for i := range w.pending {
		p := &w.pending[i]
		f := w.stands[p.sub]
		switch {
		case slices.ContainsFunc(w.parked, func(c store.Command) bool { return c.ID == p.ID }): // parked in between
		case f == nil:
		case f.bad != nil:
			return nil, nil, f.bad
		case !p.there, f.passed(&p.row):
			passed = append(passed, int64(p.ID))
		default:
			out = append(out, p.Command)
		}
	}
	return append(out, w.parked...), passed, nil
}
