package memstore

import (
	"context"
	"fmt"
)

// Op names a call, for Options.Fault.
type Op string

// The calls that can be made to fail.
const (
	OpCheck     Op = "check"
	OpDeclare   Op = "declare"
	OpDeploy    Op = "deploy"
	OpBeat      Op = "beat"
	OpTurn      Op = "turn"
	OpBlocked   Op = "blocked"
	OpDue       Op = "due"
	OpMaintain  Op = "maintain"
	OpCreateBox Op = "create box"
	OpBegin     Op = "begin"
	OpAppend    Op = "append"
	OpLock      Op = "lock"
	OpCancel    Op = "cancel"
	OpCommit    Op = "commit"
	OpCommand   Op = "command"
	OpInspect   Op = "inspect"
	OpOperation Op = "operation"
	OpErrorNote Op = "error note"
	OpMark      Op = "mark"
	OpConsumer  Op = "declare consumer"
	OpConsumers Op = "list consumers"
	OpForget    Op = "forget"
	OpLane      Op = "lane"
)

// Fault is what goes wrong with one call. The zero Fault is nothing.
type Fault struct {
	// Err is what the call returns. Nil, and not Hang: nothing goes wrong.
	Err error
	// Hang keeps the call from returning until its context ends. The call then returns
	// Err, or the context's error if Err is nil.
	Hang bool
	// Acted does the call's work first, so that only its answer is lost. False: the
	// work is not done.
	Acted bool
}

// strikes says whether anything goes wrong.
func (f Fault) strikes() bool { return f.Err != nil || f.Hang }

// answer is what a call that f strikes returns.
func (f Fault) answer(ctx context.Context, op Op) error {
	err := f.Err
	if f.Hang {
		<-ctx.Done()
		if err == nil {
			err = ctx.Err()
		}
	}
	return fmt.Errorf("memstore: %s: %w", op, err)
}

// fault asks the options what goes wrong with a call.
func (s *Store) fault(ctx context.Context, op Op) Fault {
	if s.opts.Fault == nil {
		return Fault{}
	}
	return s.opts.Fault(ctx, op)
}

// call runs act as the call op, with what goes wrong with it.
func call[R any](ctx context.Context, s *Store, op Op, act func() (R, error)) (R, error) {
	var none R
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("memstore: %s: %w", op, err)
	}
	f := s.fault(ctx, op)
	if f.strikes() && !f.Acted {
		return none, f.answer(ctx, op)
	}
	r, err := act()
	if f.strikes() {
		return none, f.answer(ctx, op)
	}
	return r, err
}
