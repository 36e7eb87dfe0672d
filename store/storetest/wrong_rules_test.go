package storetest

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// wrongRules are mistakes of boxes by number.
func wrongRules() []wrong {
	const (
		modulo    = "Slots by number are the number modulo 4096"
		ranges    = "A read of some slots by number holds their messages alone"
		refuses   = "A box by number refuses a key that is no number"
		kept      = "A box keeps the rule for slots that it was made with"
		scheduled = "A scheduled message of a box by number comes in its slot"
		later     = "A scheduled message whose key is no number is refused by a box by number"
		parked    = "A parked message of a box by number waits in its slot"
		command   = "A command for a pending message of a box by number goes to its slot"
		erased    = "An erased message of a box by number stays in its slot"
		zeros     = "Shard keys of many zeros come as they were written"
		letters   = "Dead letters of a box by hash go to no box by number"
	)
	return []wrong{
		{"the rule for slots is noted, and not heeded", func(db *database) {
			s := spoil(db)
			s.createBy = func(ctx context.Context, box string, _ store.SlotRule) error { return s.CreateBox(ctx, box) }
		}, []string{modulo, ranges, refuses, kept, scheduled, later, parked, command}},
		{"the rule for slots of a box can change", func(db *database) {
			s := spoil(db)
			s.createBy = func(ctx context.Context, box string, by store.SlotRule) error {
				if err := s.Store.CreateBoxBy(ctx, box, by); !errors.Is(err, store.ErrSlotRule) {
					return err
				}
				return nil
			}
		}, []string{kept}},
		{"negative numbers lose their sign", sharding(func(k string) string { return strings.TrimPrefix(k, "-") }), []string{modulo, ranges, scheduled}},
		{"long numbers are floats", sharding(func(k string) string {
			if len(k) < 15 {
				return k
			}
			f, err := strconv.ParseFloat(k, 64)
			if err != nil {
				return k
			}
			return strconv.FormatFloat(f, 'f', 0, 64)
		}), []string{modulo}},
		{"the shard key of a number is not heeded", written(func(m *postbag.Message) { m.ShardKey = "" }), []string{modulo, refuses}},
		{"a key that is no number is dropped with its message", unrefused(func(*postbag.Message) bool { return true }), []string{refuses, later}},
		{"a scheduled message is not checked", unrefused(func(m *postbag.Message) bool { return !m.NotBefore.IsZero() }), []string{later}},
		{"messages of a box by number are read with slots by hash", func(db *database) {
			s := spoil(db)
			s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
				res, err := s.Store.Turn(ctx, t)
				for _, b := range res.Batches {
					for i := range b.Records {
						b.Records[i].Slot = store.SlotOf(&b.Records[i].Message)
					}
				}
				for i := range res.Commands {
					res.Commands[i].Park.Slot = 1
				}
				return res, err
			}
		}, []string{modulo, ranges, scheduled, command, erased}},
		{"shard keys of zeros are taken for those of erased messages", func(db *database) {
			s := spoil(db)
			s.turn = func(ctx context.Context, t store.Turn) (store.TurnResult, error) {
				res, err := s.Store.Turn(ctx, t)
				for _, b := range res.Batches {
					for i := range b.Records {
						if strings.HasPrefix(b.Records[i].ShardKey, strings.Repeat("0", 60)) {
							b.Records[i].ShardKey = ""
						}
					}
				}
				return res, err
			}
		}, []string{zeros}},
		{"parked messages of a box by number are due in every slot", func(db *database) {
			s := spoil(db)
			s.due = func(ctx context.Context, d store.Due) ([]store.Parked, error) {
				d.Slots = []store.Slots{store.AllSlots}
				return s.Store.Due(ctx, d)
			}
		}, []string{parked}},
		{"dead letters go to a box that refuses them", func(db *database) {
			s := spoil(db)
			s.declare = func(ctx context.Context, specs []store.Spec) error {
				for i := range specs {
					specs[i].DeadTo = ""
				}
				return s.Store.Declare(ctx, specs)
			}
		}, []string{letters}},
	}
}

// sharding changes what decides the slot of each message.
func sharding(change func(string) string) func(*database) {
	return written(func(m *postbag.Message) {
		if m.ShardKey == "" {
			m.ShardKey = m.Key
		}
		m.ShardKey = change(m.ShardKey)
	})
}

// unrefused drops messages that the box refuses, and says nothing.
func unrefused(which func(*postbag.Message) bool) func(*database) {
	return func(db *database) {
		c := neglect(db)
		c.append = func(ctx context.Context, tx *memstore.Tx, box string, msgs []postbag.Message) error {
			err := c.Store.Append(ctx, tx, box, msgs)
			if errors.Is(err, store.ErrNoNumber) && which(&msgs[0]) {
				return nil
			}
			return err
		}
	}
}
