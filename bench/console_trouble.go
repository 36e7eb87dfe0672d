package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// What the store has beside messages that were delivered. The parked ones count for each of three subscriptions: 100,000 in all.
const (
	deadMessages   = 20_000 // of ten kinds of errors
	stuckKeys      = 80     // each has a message that waits for another attempt, of two kinds of errors
	behindEach     = 125    // messages of such a key behind that one
	heldMessages   = 3_000  // of a topic that an operator holds
	laterMessages  = 100_000
	auditLines     = 10_000
	doneOperations = 1_000
)

// The headers of trouble: what the destination says to a message.
const troubleHeader, heldTopic = "trouble", "s.held"

// reasons are what a destination says, with what differs from message to message.
var reasons = []string{
	"order %d: the account is closed", "409 conflict: version %d is not the latest", "schema: field amount of order %d is no number",
	"unknown tenant %d", "no route to warehouse %d", "payload of order %d: unexpected end of JSON input", "422: currency of order %d is missing",
	"duplicate invoice %d", "customer %d is deleted", "413: document %d is too large", "connection to 10.1.2.%d refused", "timeout after %d ms",
}

// picky refuses messages by their header.
type picky struct{}

func (picky) Publish(_ context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	for i := range msgs {
		kind, number, troubled := strings.Cut(msgs[i].Headers[troubleHeader], " ")
		if !troubled {
			report(i, broker.Result{Outcome: broker.Accepted})
			continue
		}
		k, _ := strconv.Atoi(kind)
		n, _ := strconv.Atoi(number)
		report(i, broker.Result{Outcome: broker.Rejected, Dead: k < len(reasons)-2, Err: fmt.Errorf(reasons[k], n)}) //nolint:err113 // texts of a destination
	}
}

func (picky) Features() broker.Features   { return broker.Features{} }
func (picky) Close(context.Context) error { return nil }

// trouble writes what needs a look: relays and operators make it, as they do anywhere.
func (s *shown) trouble(ctx context.Context) error {
	begun := time.Now()
	ops, err := operations.Of(s.store)
	if err != nil {
		return err
	}
	stop, err := s.relay(ctx, shownSubscriptions(picky{}, shownReaders...))
	if err != nil {
		return err
	}
	time.Sleep(3 * time.Second) // so that all subscriptions begin before what comes
	err = s.hold(ctx, ops)
	for _, all := range [][]postbag.Message{dead(), stuck(), onHold(), later()} {
		for len(all) > 0 && err == nil {
			n := min(len(all), 2000)
			err = s.append(ctx, all[:n])
			all = all[n:]
		}
	}
	if err == nil {
		err = s.passed(ctx, shownReaders)
	}
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	err = errors.Join(s.audit(ctx), s.operations(ctx, ops))
	fmt.Printf("  %s: what needs a look took %.0f s\n", s.kind, time.Since(begun).Seconds())
	return err
}

var benchAudit = store.Audit{Who: "bench", Why: "it is measured"}

func (s *shown) hold(ctx context.Context, ops operations.Store) error {
	for _, name := range shownReaders {
		p := store.Pause{Ref: store.Ref{Box: shownBox, Subscription: name}, Scope: store.PauseTopic, Value: heldTopic}
		if _, err := ops.Pause(ctx, benchAudit, p, 0); err != nil {
			return err
		}
	}
	return nil
}

func troubled(kind, n int, key string) postbag.Message {
	m := newMessage(n)
	m.Topic, m.Type, m.Key = "s."+strconv.Itoa(n%8), "o."+strconv.Itoa(n%8), key
	m.Headers = map[string]string{troubleHeader: fmt.Sprintf("%d %d", kind, n)}
	return m
}

func dead() (out []postbag.Message) {
	for n := range deadMessages {
		out = append(out, troubled(n%(len(reasons)-2), n, "dead-"+strconv.Itoa(n)))
	}
	return out
}

// stuck are the first messages of keys, and those that wait behind them.
func stuck() (out []postbag.Message) {
	for n := range stuckKeys * (behindEach + 1) {
		m := newMessage(0)
		m.Key = "stuck-" + strconv.Itoa(n%stuckKeys)
		if n < stuckKeys {
			m = troubled(len(reasons)-1-n%2, n, m.Key)
		}
		out = append(out, m)
	}
	return out
}

func onHold() (out []postbag.Message) {
	for n := range heldMessages {
		m := newMessage(n)
		m.Topic, m.Key = heldTopic, "held-"+strconv.Itoa(n)
		out = append(out, m)
	}
	return out
}

// later are messages whose time comes in a month or more.
func later() (out []postbag.Message) {
	at := time.Now().Add(30 * 24 * time.Hour)
	for n := range laterMessages {
		m := newMessage(n)
		m.NotBefore = at.Add(time.Duration(n) * time.Second)
		out = append(out, m)
	}
	return out
}

// audit writes what operators did, in bulk.
func (s *shown) audit(ctx context.Context) error {
	into, cast := "postbag__audit (at, who, why, what)", strconv.FormatInt(time.Now().UnixMicro(), 10)
	if s.kind == "postgresql" {
		into, cast = "postbag._audit (at, who, why, what)", "now()"
	}
	for done := 0; done < auditLines; done += 500 {
		rows := make([]string, 500)
		for i := range rows {
			rows[i] = fmt.Sprintf("(%s, 'operator-%d', 'ticket %d', 'retry outbox/billing %d (order, of a bench)')", cast, i%7, done+i, done+i)
		}
		if err := s.exec(ctx, "INSERT INTO "+into+" VALUES "+strings.Join(rows, ", ")); err != nil {
			return err
		}
	}
	return nil
}

// operations makes long operations that are over.
func (s *shown) operations(ctx context.Context, ops operations.Store) error {
	now, err := ops.Bookkeeper.Clock(ctx)
	for n := 0; n < doneOperations && err == nil; n++ {
		var id store.OperationID
		id, err = ops.Bookkeeper.PlanOperation(ctx, benchAudit, store.Operation{
			Ref: store.Ref{Box: shownBox, Subscription: shownReaders[n%len(shownReaders)]}, Kind: store.OperationRetry, Of: store.StateDead,
			Chosen: `{"filter":"--state dead --error refused"}`, AsOf: now, Matched: int64(n + 1),
		})
		if err == nil {
			err = ops.Bookkeeper.SetOperation(ctx, benchAudit, id, store.OperationCancelled)
		}
	}
	return err
}
