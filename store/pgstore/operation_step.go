package pgstore

import (
	"context"
	"fmt"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// StepOperation implements store.Bookkeeper.
func (s *Store) StepOperation(ctx context.Context, c store.OperationClaim, from int64, n int) (out store.Operation, err error) {
	given := int64(0)
	err = s.revise(ctx, c.ID, func(o *operationRow) (written bool, err error) {
		next := *o
		n, err := storekit.StepOperation(&next.Operation, c, from, n, o.now)
		if out = next.Operation; err != nil || next == *o { // it is over
			return true, err
		}
		if n == 0 {
			return s.setOperation(ctx, &next, store.Audit{}, "", nil)
		}
		step, err := s.stepped(ctx, o, &next, n)
		if err == nil {
			written, err = step.make(ctx)
		}
		out, given = step.next.Operation, step.next.Given-o.Given
		return written, err
	})
	if err != nil {
		return store.Operation{}, translateError(storekit.OperationDoing("step", c.ID), err)
	}
	if given > 0 {
		s.Wake(out.Box)
	}
	return out, nil
}

// operationStep is one step of an operation at work.
type operationStep struct {
	s    *Store
	o    *operationRow
	next *operationRow // as it is after the step; the statement counts
	n    int
	// items are messages of the log, and ids those that are scheduled. changed of the others are not as they were.
	items   []store.Item
	ids     []postbag.ID
	changed int64
}

// stepped reads what the next n messages of an operation are by now.
func (s *Store) stepped(ctx context.Context, o, next *operationRow, n int) (*operationStep, error) {
	step := &operationStep{s: s, o: o, next: next, n: n}
	messages, err := s.messagesOf(ctx, o, n)
	if err != nil {
		return step, err
	}
	sub, err := s.operated(ctx, &o.Operation)
	if err == nil && int64(sub) != o.sub {
		err = fmt.Errorf("another %s was declared since: %w", o.Ref, store.ErrNoSubscription)
	}
	switch {
	case err != nil:
		return step, err
	case o.Of == store.StateScheduled:
		for i := range messages {
			step.ids = append(step.ids, messages[i].ID)
		}
		return step, nil
	}
	return step, step.look(ctx, messages)
}

// messagesOf reads the next n messages of an operation.
func (s *Store) messagesOf(ctx context.Context, o *operationRow, n int) ([]store.OperationMessage, error) {
	var parts [][]byte
	first, last := storekit.PartsOf(o.At, o.At+int64(n))
	err := s.run(ctx, call{
		st: s.statements.get("operation_parts", ""), args: new(parameters).int8(int64(o.ID)).int8(first).int8(last),
		reset: func() { parts = nil },
		each: func(r row) error {
			c := columns{rest: r}
			parts = append(parts, []byte(c.text()))
			return c.err
		},
	})
	if err != nil {
		return nil, err
	}
	return storekit.MessagesOf(parts, o.At, n)
}

// look finds the messages of the log that can have the command.
func (step *operationStep) look(ctx context.Context, messages []store.OperationMessage) error {
	seqs := make([]int64, len(messages))
	bySeq := make(map[int64]*store.OperationMessage, len(messages))
	for i := range messages {
		seqs[i] = messages[i].Seq
		bySeq[seqs[i]] = &messages[i]
	}
	items, err := step.s.commanded(ctx, step.o.Ref, step.o.Kind.Command(), seqs)
	for i := range items {
		if storekit.SameMessage(bySeq[items[i].Seq], items[i].ID) {
			step.items = append(step.items, items[i])
		}
	}
	step.changed = int64(len(items) - len(step.items))
	if step.o.Of == store.StateDead { // what is not parked any more has changed, too
		step.changed = int64(len(messages) - len(step.items))
	}
	return err
}

// make writes the step, and says whether the operation still was as it was read.
func (step *operationStep) make(ctx context.Context) (written bool, err error) {
	o, next := step.o, step.next
	full := false
	end := next.Operation
	line := storekit.EndStep(&end, int64(step.n), 0, 0, o.now)
	if line != "" {
		line = storekit.OperationEndText(&end)
	}
	args := new(parameters).int8(int64(o.ID)).int8(o.revision).int8(int64(step.n)).text(string(end.State)).text(end.Worker)
	args.int8(microsOf(end.LeaseEnds)).int8(microsOf(end.Touched)).int8(microsOf(end.Ended)).text(line).int8(step.changed)
	name, box := step.arguments(args)
	err = step.s.guarded(ctx, func(v *server) error {
		calls := []call{step.s.guard(v, "", nil), step.s.lockOperation(o)}
		if o.sub != 0 {
			calls = append(calls, step.s.lockSubscription(int32(o.sub)))
		}
		return step.s.run(ctx, append(calls, call{
			st: step.s.statements.get(name, box), args: args,
			reset: func() { written, full = false, false },
			each: func(r row) error {
				c := columns{rest: r}
				if full = c.int4() < 0; full {
					return c.err
				}
				next.Operation, written = end, true
				next.Given, next.Changed, next.Passed = c.int8(), c.int8(), c.int8()
				return c.err
			},
		})...)
	})
	if err == nil && full {
		err = store.ErrTooManyCommands
	}
	return written, err
}

// arguments appends those of the statement that the step is, and names it.
func (step *operationStep) arguments(args *parameters) (name, box string) {
	if step.o.Of == store.StateScheduled {
		args.texts(len(step.ids), func(i int) string { return step.ids[i].String() })
		if step.o.Kind.Command() == store.Retry {
			return "step_publish_now", step.o.Box
		}
		return "step_unschedule", step.o.Box
	}
	n := len(step.items)
	args.int4(int32(step.o.Kind.Command())).int4(int32(step.o.sub)).int8s(n, func(i int) int64 { return step.items[i].Seq })
	args.int2s(n, func(i int) int { return step.items[i].Slot }).bools(n, func(i int) bool { return step.items[i].State == store.StatePending })
	args.int4(store.MaxPendingCommands).bool(step.o.Of == store.StateDead).int8(microsOf(step.o.AsOf))
	return "step_commands", ""
}

// partsMost is how many parts of an operation go in one transaction.
const partsMost = 100

// operations removes the records of operations that nobody changed for long, with their messages.
func (m *maintenance) operations(ctx context.Context) error {
	for found := m.operated; found && !m.late(); {
		args := new(parameters).text(m.Box).int8(partsMost)
		args.int8(m.now - store.OperationPlannedKept.Microseconds()).int8(m.now - store.OperationKept.Microseconds())
		err := m.s.run(ctx, m.s.planned(group{m.s.guard(m.v, "", nil), {
			st: m.s.statements.get("forget_operation", ""), args: args,
			reset: func() { found = false },
			each:  func(row) error { found = true; return nil },
		}})...)
		if err != nil {
			return err
		}
	}
	return nil
}
