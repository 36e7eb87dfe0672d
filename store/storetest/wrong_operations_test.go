package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// clerk is a memstore some of whose calls about operations are done otherwise.
type clerk struct {
	*memstore.Store
	plan     func(context.Context, store.Audit, store.Operation) (store.OperationID, error)
	add      func(context.Context, store.OperationID, int64, []store.OperationMessage) error
	begin    func(context.Context, store.Audit, store.OperationID) error
	claim    func(context.Context, store.OperationID, string, time.Duration) (store.Operation, error)
	step     func(context.Context, store.OperationClaim, int64, int) (store.Operation, error)
	set      func(context.Context, store.Audit, store.OperationID, store.OperationState) error
	maintain func(context.Context, store.Retention) (store.Report, error)
	of       map[store.OperationID][]store.OperationMessage
}

func (c *clerk) PlanOperation(ctx context.Context, a store.Audit, o store.Operation) (store.OperationID, error) {
	return c.plan(ctx, a, o)
}

func (c *clerk) AddMessages(ctx context.Context, id store.OperationID, from int64, of []store.OperationMessage) error {
	err := c.add(ctx, id, from, of)
	if err == nil {
		c.of[id] = append(c.of[id][:min(int(from), len(c.of[id]))], of...)
	}
	return err
}

func (c *clerk) BeginOperation(ctx context.Context, a store.Audit, id store.OperationID) error {
	return c.begin(ctx, a, id)
}

func (c *clerk) ClaimOperation(ctx context.Context, id store.OperationID, worker string, lease time.Duration) (store.Operation, error) {
	return c.claim(ctx, id, worker, lease)
}

func (c *clerk) StepOperation(ctx context.Context, k store.OperationClaim, from int64, n int) (store.Operation, error) {
	return c.step(ctx, k, from, n)
}

func (c *clerk) SetOperation(ctx context.Context, a store.Audit, id store.OperationID, to store.OperationState) error {
	return c.set(ctx, a, id, to)
}

func (c *clerk) Maintain(ctx context.Context, r store.Retention) (store.Report, error) {
	return c.maintain(ctx, r)
}

// give gives messages of an operation their command beside its record, as a step does that does not look at them.
func (c *clerk) give(ctx context.Context, id store.OperationID, from int64, n int) {
	o, err := c.Store.Operation(ctx, id)
	if err != nil {
		return
	}
	var seqs []int64
	for _, m := range c.of[id][min(int(from), len(c.of[id])):min(int(from)+n, len(c.of[id]))] {
		seqs = append(seqs, m.Seq)
	}
	_, _ = c.Command(ctx, why, o.Ref, o.Kind.Command(), seqs)
}

// misfiles makes a mistake in operations.
func misfiles(spoil func(*clerk)) func(*database) {
	return func(db *database) {
		s := db.Store.(*memstore.Store) //nolint:errcheck // reference made it
		c := &clerk{
			Store: s, plan: s.PlanOperation, add: s.AddMessages, begin: s.BeginOperation, claim: s.ClaimOperation, step: s.StepOperation,
			set: s.SetOperation, maintain: s.Maintain, of: map[store.OperationID][]store.OperationMessage{},
		}
		spoil(c)
		db.Store = c
	}
}

// stepsAnyway gives the command to what a step leaves alone.
func stepsAnyway(c *clerk) {
	c.step = func(ctx context.Context, k store.OperationClaim, from int64, n int) (store.Operation, error) {
		o, err := c.Store.StepOperation(ctx, k, from, n)
		if err == nil {
			c.give(ctx, k.ID, from, n)
		}
		return o, err
	}
}

// wrongOperations are mistakes in long operations.
func wrongOperations() []wrong {
	const (
		steps = "An operation gives its command step by step, and ends with the last message"
		lost  = "A step with an old token gives nothing"
	)
	return []wrong{
		{"a step moves the record in a transaction of its own", func(db *database) {
			misfiles(func(*clerk) {})(db)
			db.Store = &mover{clerk: db.Store.(*clerk), moved: map[store.OperationID]int64{}} //nolint:errcheck // misfiles made it
		}, []string{"A step that cannot queue its commands leaves the record as it was"}},
		{"a step compares no token", misfiles(func(c *clerk) {
			c.step = func(ctx context.Context, k store.OperationClaim, from int64, n int) (store.Operation, error) {
				if o, err := c.Store.Operation(ctx, k.ID); err == nil {
					k.Token = o.Token
				}
				return c.Store.StepOperation(ctx, k, from, n)
			}
		}), []string{lost}},
		{"a step takes whatever number it is given for where the operation is", misfiles(func(c *clerk) {
			c.step = func(ctx context.Context, k store.OperationClaim, from int64, n int) (store.Operation, error) {
				if o, err := c.Store.Operation(ctx, k.ID); err == nil {
					from = o.At
				}
				return c.Store.StepOperation(ctx, k, from, n)
			}
		}), []string{"A step that is said again gives nothing again"}},
		{"nobody sees that a worker is in trouble", misfiles(func(c *clerk) {
			c.step = func(ctx context.Context, k store.OperationClaim, from int64, n int) (store.Operation, error) {
				k.Trouble = ""
				return c.Store.StepOperation(ctx, k, from, n)
			}
		}), []string{"A worker in trouble is seen until a step is made"}},
		{"a step compares no state of messages", misfiles(func(c *clerk) {
			c.step = func(ctx context.Context, k store.OperationClaim, from int64, n int) (store.Operation, error) {
				k.Of = ""
				return c.Store.StepOperation(ctx, k, from, n)
			}
		}), []string{"A claim that names other messages gives nothing"}},
		{"a step goes on in a pause", misfiles(stepsAnyway), []string{"In a pause a step gives nothing and keeps the lease"}},
		{"a step goes on after a cancel", misfiles(stepsAnyway), []string{"An operation that is over stays over, and one that failed can be resumed"}},
		{"a cancel takes away why an operation failed", misfiles(func(c *clerk) {
			c.set = func(ctx context.Context, a store.Audit, id store.OperationID, to store.OperationState) error {
				if to == store.OperationCancelled {
					_ = c.Store.SetOperation(ctx, a, id, store.OperationRunning)
				}
				return c.Store.SetOperation(ctx, a, id, to)
			}
		}), []string{"An operation that failed and is cancelled still says why it failed"}},
		{"a step takes a message that died again", misfiles(stepsAnyway), []string{"A step leaves a message that died again"}},
		{"a step takes a message that another command waits for", misfiles(stepsAnyway), []string{"A step leaves a message that another command waits for"}},
		{"a step compares no id", misfiles(stepsAnyway), []string{"A step leaves a message that is not the one with that id"}},
		{"a step goes by the name of the subscription", misfiles(func(c *clerk) {
			c.step = func(ctx context.Context, k store.OperationClaim, from int64, n int) (store.Operation, error) {
				o, err := c.Store.StepOperation(ctx, k, from, n)
				if errors.Is(err, store.ErrNoSubscription) {
					c.give(ctx, k.ID, from, n)
				}
				return o, err
			}
		}), []string{"A step ends where the subscription was removed and declared again"}},
		{"a later version is worked", misfiles(func(c *clerk) {
			c.claim = func(ctx context.Context, id store.OperationID, worker string, lease time.Duration) (store.Operation, error) {
				_ = c.ChangeOperation(ctx, id, store.OperationVersion, 0)
				return c.Store.ClaimOperation(ctx, id, worker, lease)
			}
		}), []string{"An operation of a later version is shown, paused and cancelled, and not worked"}},
		{"a claim takes a lease that lives", misfiles(func(c *clerk) {
			c.claim = func(ctx context.Context, id store.OperationID, worker string, lease time.Duration) (store.Operation, error) {
				if o, err := c.Store.Operation(ctx, id); err == nil {
					_ = c.ReleaseOperation(ctx, store.OperationClaim{ID: id, Token: o.Token}, "")
				}
				return c.Store.ClaimOperation(ctx, id, worker, lease)
			}
		}), []string{"A lease that has not ended is not taken"}},
		{"an operation begins without its messages", misfiles(func(c *clerk) {
			c.begin = func(ctx context.Context, a store.Audit, id store.OperationID) error {
				err := c.Store.BeginOperation(ctx, a, id)
				if errors.Is(err, store.ErrOperationState) {
					return nil
				}
				return err
			}
		}), []string{"Only an operation with all its messages begins"}},
		{"messages that are written again are kept as they were", misfiles(func(c *clerk) {
			c.add = func(ctx context.Context, id store.OperationID, from int64, of []store.OperationMessage) error {
				if len(c.of[id]) > int(from) {
					return nil
				}
				return c.Store.AddMessages(ctx, id, from, of)
			}
		}), []string{"Only an operation with all its messages begins"}},
		{"a part of the messages has one message twice", misfiles(func(c *clerk) {
			c.add = func(ctx context.Context, id store.OperationID, from int64, of []store.OperationMessage) error {
				of = append([]store.OperationMessage{of[0]}, of...)[:len(of)]
				return c.Store.AddMessages(ctx, id, from, of)
			}
		}), []string{steps, "An operation of many parts gives each message the command once"}},
		{"scheduled messages are left as they are", misfiles(func(c *clerk) {
			c.add = func(ctx context.Context, id store.OperationID, from int64, of []store.OperationMessage) error {
				other := make([]store.OperationMessage, len(of))
				for i := range of {
					other[i] = store.OperationMessage{Seq: of[i].Seq, ID: postbag.ID{1}}
				}
				return c.Store.AddMessages(ctx, id, from, other)
			}
		}), []string{"Scheduled messages are published now by an operation", "Pending messages are discarded by an operation"}},
		{"the end of an operation is not what is done with it last", misfiles(func(c *clerk) {
			c.set = func(ctx context.Context, a store.Audit, id store.OperationID, to store.OperationState) error {
				err := c.Store.SetOperation(ctx, a, id, to)
				if errors.Is(err, store.ErrOperationState) {
					return nil
				}
				return err
			}
		}), []string{"An operation that is over stays over, and one that failed can be resumed"}},
		{"an operation is planned as somebody else's", misfiles(func(c *clerk) {
			c.plan = func(ctx context.Context, a store.Audit, o store.Operation) (store.OperationID, error) {
				a.Who, o.Rate = "postbag", 0
				return c.Store.PlanOperation(ctx, a, o)
			}
		}), []string{"An operation is recorded as it was planned, and the newest is listed first"}},
		{"messages that changed are counted as passed", misfiles(func(c *clerk) {
			c.step = func(ctx context.Context, k store.OperationClaim, from int64, n int) (store.Operation, error) {
				o, err := c.Store.StepOperation(ctx, k, from, n)
				o.Passed, o.Changed = o.Changed, o.Passed
				return o, err
			}
		}), []string{"A step counts messages that have the command, or need none, as passed"}},
		{"operations have no bound", misfiles(func(c *clerk) {
			c.plan = func(ctx context.Context, a store.Audit, o store.Operation) (store.OperationID, error) {
				id, err := c.Store.PlanOperation(ctx, a, o)
				if errors.Is(err, store.ErrTooManyOperations) {
					return 1, nil
				}
				return id, err
			}
		}), []string{"As many operations as there can be are planned, and no more"}},
		{"what cannot be is planned", misfiles(func(c *clerk) {
			c.plan = func(ctx context.Context, a store.Audit, o store.Operation) (store.OperationID, error) {
				o.Rate = max(o.Rate, 0)
				return c.Store.PlanOperation(ctx, a, o)
			}
		}), []string{"An operation that cannot be is refused, and nothing is written"}},
		{"housekeeping leaves records", misfiles(func(c *clerk) {
			c.maintain = func(context.Context, store.Retention) (store.Report, error) { return store.Report{}, nil }
		}), []string{"Housekeeping removes the records that nobody changed for long"}},
	}
}

// mover is a clerk whose record says that a step was made that was not.
type mover struct {
	*clerk
	moved map[store.OperationID]int64
}

func (m *mover) StepOperation(ctx context.Context, k store.OperationClaim, from int64, n int) (store.Operation, error) {
	o, err := m.clerk.StepOperation(ctx, k, from, n)
	if err != nil {
		m.moved[k.ID] = int64(n)
	}
	return o, err
}

func (m *mover) Operation(ctx context.Context, id store.OperationID) (store.Operation, error) {
	o, err := m.clerk.Operation(ctx, id)
	o.At += m.moved[id]
	return o, err
}
