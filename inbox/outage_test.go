package inbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/memsource"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

var errFull = errors.New("the disk is full")

// failing is a store that knows what its database says when its disk is full.
type failing struct{ *memstore.Store }

func (failing) Outage(err error) bool { return errors.Is(err, errFull) }

// ofTheStore are errors of a handler's statement that say nothing against its message.
var ofTheStore = map[string]error{
	"a full disk": fmt.Errorf("charge: %w", errFull), "a read-only server": fmt.Errorf("charge: %w", store.ErrStandby),
	"a full disk, and a handler that rejects whatever fails": fmt.Errorf("charge: %w: %w", inbox.ErrRejected, errFull),
}

func TestAnErrorOfTheDatabaseThatAHandlerGetsIsNoAttempt(t *testing.T) {
	t.Parallel()
	for name, failure := range ofTheStore {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := consume(t, partitions, memstore.Options{}, func(w *consuming, o *consumerOptions) {
					o.Store, o.Retry.MaxAttempts = failing{w.store}, 1
				}, handle(func(_ context.Context, _ *inbox.Message, call int) error {
					if call <= 6 {
						return failure
					}
					return nil
				}))
				w.publish(of("a", "one"))
				w.acked()
				w.applied("one")
				w.end()
				if s := w.c.Stats(); s.Failed != 0 || s.Parked != 0 || s.Applied != 1 {
					t.Errorf("it counted %+v", s)
				}
				if began, ended := w.log.count("the store of an inbox fails"), w.log.count("the store of an inbox works again"); began != 1 || ended != 1 {
					t.Errorf("the log tells %d times that the store fails, and %d times that it works again", began, ended)
				}
			})
		})
	}
}

// Nobody but the message at which the database fails is in hand then, and each of its attempts fails.
func TestAConsumerFetchesOnWhereTheDatabaseFailsForTheOnlyMessageInHand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, func(w *consuming, o *consumerOptions) {
			o.Store = failing{w.store}
		}, handle(func(_ context.Context, m *inbox.Message, _ int) error {
			if m.Key == "full" {
				return errFull
			}
			return nil
		}))
		w.publish(of("full", "never"))
		<-time.After(time.Minute)
		w.broker.SetDown(true) // the fetch that waits ends, and the next one sees how it stands
		<-time.After(time.Minute)
		w.broker.SetDown(false)
		w.publish(of("a", "a1"), of("b", "b1"))
		<-time.After(time.Minute)
		w.applied("a1", "b1")
		w.end()
	})
}

// A database that fails for the messages of one key, and works for others, is told of as often as one that fails for all.
func TestADatabaseThatFailsForOneKeyDelaysNoOtherAndDoesNotFloodTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := consume(t, memsource.Options{Order: source.OrderStream}, memstore.Options{}, func(w *consuming, o *consumerOptions) {
			o.Store = failing{w.store}
		}, handle(func(_ context.Context, m *inbox.Message, _ int) error {
			if m.Key == "full" {
				return errFull
			}
			return nil
		}))
		w.publish(of("full", "never"))
		const others = 600
		for n := range others {
			w.publish(of("a", fmt.Sprint(n)))
			<-time.After(time.Second)
		}
		if n := w.c.Stats().Applied; n < others-10 {
			t.Errorf("%d of %d others are applied", n, others)
		}
		if n := w.log.count("\n"); n < 10 || n > 30 {
			t.Errorf("in 10 minutes the log got %d lines", n)
		}
		if w.log.count("the message of topic") == 0 {
			t.Error("the log does not name the message at which the database fails")
		}
		w.end()
		if s := w.c.Stats(); s.Failed != 0 || s.Parked != 0 {
			t.Errorf("it counted %+v", s)
		}
	})
}

func TestAnErrorOfTheDatabaseThatAHandlerGetsDoesNotRejectItsMessage(t *testing.T) {
	t.Parallel()
	for name, failure := range ofTheStore {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *shelf
			w = newShelf(t, func(o *destinationOptions) {
				o.Store = failing{o.Store.(*memstore.Store)} //nolint:errcheck // newShelf has made it
			}, handling(&w, func(_ context.Context, _ *inbox.Message, call int) error {
				if call == 1 {
					return failure
				}
				return nil
			}))
			m := delivery("ann", "3 apples")
			w.gets(m, broker.Unavailable, failure.Error())
			w.gets(m, broker.Accepted, "")
			w.applied("3 apples")
		})
	}
}

func TestAnErrorOfTheDatabaseWithinAPageIsNoFaultOfAMessage(t *testing.T) {
	t.Parallel()
	for name, failure := range ofTheStore {
		for when, before := range map[string]int{"in the first run": 0, "while it is found out which message fails": 1} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				bothForms(t, func(t *testing.T, form func(*batchShelf, *batchOptions)) {
					var w *batchShelf
					calls := 0
					w = newBatchShelf(t, refusing(func(_ context.Context, m *inbox.Message) error {
						if string(m.Payload) != "2" {
							return nil
						}
						if calls++; calls <= before {
							return errors.New("no")
						}
						return failure
					}), func(w *batchShelf, o *batchOptions) { o.Store = failing{w.store} }, form)
					msgs := deliveries(4, "a")
					results := w.commits(msgs, broker.Aborted, broker.Unavailable, nil)
					says := results[0].Err.Error()
					if !strings.Contains(says, failure.Error()) {
						t.Errorf("the error does not say %q: %s", failure, says)
					}
					if strings.HasSuffix(t.Name(), "a_handler_of_messages") && !strings.Contains(says, msgs[2].ID.String()) {
						t.Errorf("the error does not name the message, %s: %s", msgs[2].ID, says)
					}
					w.applied()
				})
			})
		}
	}
}
