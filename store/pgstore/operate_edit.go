package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

var _ store.Editor = (*Store)(nil)

// editMost is how many messages one call of an Editor changes at most.
const editMost = 1000

// edit carries out an operator's change of a box.
func (s *Store) edit(ctx context.Context, a store.Audit, box string, ids []postbag.ID, do func(*server, *catalogBox, store.Audit) error) error {
	a, err := audited(a)
	if err != nil {
		return err
	}
	if len(ids) > editMost {
		return &fault{doing: "order", said: fmt.Sprintf("%d messages are named", len(ids)), fix: fmt.Sprintf("name %d at a time", editMost)}
	}
	return s.guarded(ctx, func(v *server) error {
		known, err := s.readCatalog(ctx)
		switch {
		case err != nil:
			return err
		case known.boxes[box] == nil:
			return store.ErrNoBox
		}
		return do(v, known.boxes[box], a)
	})
}

// Scheduled implements store.Editor. It waits for transactions that are about to
// cancel one of the messages.
func (s *Store) Scheduled(ctx context.Context, a store.Audit, box string, kind store.CommandKind, ids []postbag.ID) (int, error) {
	name, statement := commandNames[kind], "publish_now"
	switch kind {
	case store.Retry:
	case store.Discard:
		statement = "unschedule"
	default:
		return 0, unknownKind(kind)
	}
	changed := 0
	err := s.edit(ctx, a, box, ids, func(v *server, _ *catalogBox, a store.Audit) error {
		args := new(parameters).texts(len(ids), func(i int) string { return ids[i].String() })
		args.text(a.Who).text(a.Why).text(name + " " + box + " scheduled ").text(selectedBy(a))
		return s.run(ctx, s.guard(v, "", nil), call{
			st: s.statements.get(statement, box), args: args,
			reset: func() { changed = 0 },
			each: func(row) error {
				changed++
				return nil
			},
		})
	})
	if err == nil && changed > 0 {
		s.Wake(box)
	}
	return changed, translateError(name+" scheduled messages of box "+box, err)
}

// Erase implements store.Editor.
func (s *Store) Erase(ctx context.Context, a store.Audit, box string, ids []postbag.ID) (store.Erased, error) {
	var out store.Erased
	err := s.edit(ctx, a, box, ids, func(v *server, b *catalogBox, a store.Audit) error {
		out = store.Erased{}
		places, err := s.placesOf(ctx, box, ids)
		if err != nil {
			return err
		}
		var seqs []int64
		var names []string
		for i, id := range ids {
			if slices.Contains(ids[:i], id) {
				continue
			}
			found, refused, err := s.erasable(ctx, box, id, places[id.String()])
			switch {
			case err != nil:
				return err
			case refused:
				out.Refused = append(out.Refused, id)
			case len(found) > 0:
				seqs, names = append(seqs, found...), append(names, id.String())
			}
		}
		if len(seqs) == 0 {
			return nil
		}
		args := func() *parameters { return new(parameters).int8s(len(seqs), func(i int) int64 { return seqs[i] }) }
		what := "erase " + box + " " + shortened(names) + selectedBy(a)
		err = s.run(ctx, s.guard(v, "", nil), call{st: s.statements.get("erasing", "")}, call{st: s.statements.get("erase", box), args: args()},
			call{st: s.statements.get("erase_copies", ""), args: args().int4(b.id)}, s.note(a, what))
		if err == nil {
			out.Messages = len(names)
		}
		return err
	})
	if err != nil {
		return store.Erased{}, translateError("erase messages of box "+box, err)
	}
	return out, nil
}

// placesOf returns the seqs of messages in the log, by id.
func (s *Store) placesOf(ctx context.Context, box string, ids []postbag.ID) (map[string][]int64, error) {
	l, err := s.lister(ctx, store.Query{Ref: store.Ref{Box: box}, Oldest: true})
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return l.placesOf(ctx, ids)
}

// erasable returns the seqs of a message, of which inLog are in the log, or that it is still to be
// passed. What a filter says now does not count: it is asked again of what is left of an erased
// message.
func (s *Store) erasable(ctx context.Context, box string, id postbag.ID, inLog []int64) (seqs []int64, refused bool, err error) {
	l, err := s.lister(ctx, store.Query{Ref: store.Ref{Box: box}, ID: id, Oldest: true})
	if err != nil {
		return nil, false, err
	}
	l.places = true
	copies, later, err := l.apart(ctx)
	if err != nil || len(later) > 0 {
		return nil, true, err
	}
	seqs = slices.Compact(slices.Sorted(slices.Values(append(copies, inLog...))))
	for _, seq := range seqs {
		items, err := l.show(ctx, seq)
		if err != nil {
			return nil, false, err
		}
		for i := range items {
			if _, parked := parkStateOf(items[i].State); parked || items[i].State == store.StatePending {
				return nil, true, nil
			}
		}
	}
	return seqs, false, nil
}

// note returns the statement that writes to the audit log.
func (s *Store) note(a store.Audit, what string) call {
	return call{st: s.statements.get("note", ""), args: new(parameters).text(a.Who).text(a.Why).text(what)}
}

// shortened returns names as text, cut short.
func shortened(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], " "), len(names)-most)
}

// AcceptLedger implements store.Editor.
func (s *Store) AcceptLedger(ctx context.Context, a store.Audit, box string) ([]string, error) {
	out := []string{}
	err := s.edit(ctx, a, box, nil, func(v *server, _ *catalogBox, a store.Audit) error {
		var lacks []lack
		var err error
		if lacks, err = s.lacks(ctx, v, box); err != nil {
			return err
		}
		if len(lacks) == 0 {
			return s.acknowledge(ctx, v, a, box)
		}
		out = out[:0]
		calls := []call{s.guard(v, "", nil), {st: s.statements.get("accept", ""), args: acceptance(lacks)}}
		for i := range lacks {
			out = append(out, lacks[i].line)
			calls = append(calls, s.note(a, "accept ledger "+box+": "+lacks[i].line))
		}
		return s.run(ctx, calls...)
	})
	if err != nil {
		return nil, translateError("accept the ledger of box "+box, err)
	}
	return out, nil
}

// acknowledge ends the notices of a box, if it has any.
func (s *Store) acknowledge(ctx context.Context, v *server, a store.Audit, box string) error {
	var now int64
	err := s.run(ctx, call{st: s.statements.get("clock", ""), each: func(r row) error {
		c := columns{rest: r}
		now = c.int8()
		return c.err
	}})
	if err != nil {
		return err
	}
	if notices, err := s.notices(ctx, v, now); err != nil || len(notices[box]) == 0 {
		return err
	}
	return s.run(ctx, s.guard(v, "", nil), s.note(a, storekit.Acknowledged(box)))
}

// lack is what the ledger of a subscription does not say of a span.
type lack struct {
	sub  int32
	span int64
	sum  store.Tally
	line string
}

// lacks compares the ledgers of a box with its log, as far as all subscriptions have
// passed it.
func (s *Store) lacks(ctx context.Context, v *server, box string) ([]lack, error) {
	m := &maintenance{
		s: s, v: v, maintenanceState: &maintenanceState{}, end: time.Now().Add(time.Hour),
		Retention: store.Retention{Lease: store.Lease{Shard: store.Shard{Ref: store.Ref{Box: box, Subscription: store.Maintenance}, Slots: store.AllSlots}}},
	}
	if err := m.look(ctx); err != nil {
		return nil, err
	}
	for range 2 { // the second finds the floor itself
		floor, err := m.minimumPosition(ctx)
		if err != nil {
			return nil, err
		}
		m.safe = floor
	}
	var out []lack
	m.differ = func(span int64, i int, passed, told store.Tally) {
		f := &m.followers[i]
		sum := store.Tally{Count: passed.Count - told.Count, SeqSum: passed.SeqSum - told.SeqSum, IDSum: passed.IDSum - told.IDSum}
		out = append(out, lack{f.id, span, sum, fmt.Sprintf("%s/%s, seqs %d to %d: %d messages passed, %d accounted for",
			box, f.name, span*store.TallySpan+1, (span+1)*store.TallySpan, passed.Count, told.Count)})
	}
	c := &ledgerScan{}
	c.begin(m, box, m.dropped, m.dropped)
	if _, err := m.compare(ctx, c, m.safe, m.safe); err != nil {
		return nil, err
	}
	return out, nil
}

func acceptance(lacks []lack) *parameters {
	n := len(lacks)
	a := new(parameters).int4s(n, func(i int) int32 { return lacks[i].sub })
	a.int8s(n, func(i int) int64 { return lacks[i].span })
	a.int8s(n, func(i int) int64 { return lacks[i].sum.Count })
	a.int8s(n, func(i int) int64 { return int64(lacks[i].sum.SeqSum) })
	return a.int8s(n, func(i int) int64 { return int64(lacks[i].sum.IDSum) })
}
