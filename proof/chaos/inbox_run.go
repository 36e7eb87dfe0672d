package chaos

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/proof/history"
)

// takeIn is Run for an inbox.
func (r *run) takeIn(ctx context.Context) (*Report, error) {
	if err := r.startInbox(ctx); err != nil {
		return nil, err
	}
	if err := r.inflict(ctx); err != nil {
		return nil, err
	}
	drained := r.drainInbox(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.judgeInbox(ctx, drained)
}

// startInbox starts servers, producers and consumers, and waits for the first effects.
func (r *run) startInbox(ctx context.Context) (err error) {
	if err := r.startServers(ctx); err != nil {
		return err
	}
	if err := r.known(); err != nil {
		return err
	}
	job := r.job()
	job.Role = Producers
	if r.producers, err = startCrew(r, job, r.Producers); err != nil {
		return err
	}
	job.Role, job.From = Consumers, r.database.DSN(Relays)
	if r.crew, err = startCrew(r, job, r.Relays); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for applied := 0; applied <= 100; {
		if err := Pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("chaos: no messages are applied before any fault: %w; the logs are in %s", err, r.dir)
		}
		applied = 0
		_ = r.effects(ctx, func(Effect) error { applied++; return nil }) // it is asked again
	}
	return nil
}

// effects calls each for all rows of the table of effects.
func (r *run) effects(ctx context.Context, each func(Effect) error) error {
	s, in := r.Store, r.database
	if r.Sink != nil {
		s, in = r.Sink, r.sink
	}
	applier, ok := s.(Applier)
	if !ok {
		return errors.New("chaos: the store has no method Effects; add it")
	}
	ctx, cancel := context.WithTimeout(ctx, storeAnswers)
	defer cancel()
	return applier.Effects(ctx, in.DSN(Operators), each)
}

// drainInbox stops the producers and waits until everything has been applied.
func (r *run) drainInbox(ctx context.Context) error {
	r.sayf("no more faults")
	_ = Pause(ctx, calm) // the load goes on over healthy servers
	r.unloaded = time.Now()
	if err := r.producers.stop(ctx); err != nil {
		r.failf("%v", err)
	}
	r.sayf("no more load")
	sent, err := r.sent()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, mostPatience)
	defer cancel()
	if err := r.awaitApplied(ctx, sent); err != nil {
		return err
	}
	r.sayf("drained")
	return Pause(ctx, echo)
}

// echo is how long the consumers go on when all is applied: what would come again comes meanwhile.
const echo = 5 * time.Second

// awaitApplied waits until each of some messages has an effect, as long as what has none becomes less.
func (r *run) awaitApplied(ctx context.Context, sent map[string]bool) error {
	least := len(sent) + 1
	for until := time.Now().Add(patience); ; {
		asked := time.Now()
		left := make(map[string]bool, len(sent))
		for id := range sent {
			left[id] = true
		}
		err := r.effects(ctx, func(e Effect) error { delete(left, e.ID); return nil })
		switch {
		case err == nil && len(left) == 0:
			return nil
		case err == nil && len(left) < least:
			least, until = len(left), time.Now().Add(patience)
		case time.Now().After(until):
			return errors.Join(fmt.Errorf("chaos: for %v without faults nothing more was applied; %d messages have no effect", patience, len(left)), err)
		}
		if err := Pause(ctx, 200*time.Millisecond+2*time.Since(asked)); err != nil {
			return err
		}
	}
}

// sent are the ids of all messages that the broker accepted.
func (r *run) sent() (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(r.dir, string(Producers)+"*.events"))
	if err != nil {
		return nil, err
	}
	d := &dispatch{tally: newTally(), ids: map[history.Tx]history.ID{}}
	for _, name := range files {
		if _, err := history.ReadFile(name, d); err != nil {
			return nil, err
		}
	}
	out := map[string]bool{}
	for tx, f := range d.fates {
		if f.Fate == history.Committed {
			out[postbag.ID(d.ids[tx]).String()] = true
		}
	}
	return out, nil
}

// dispatch also takes which message was published in which transaction, which has no other here.
type dispatch struct {
	*tally

	ids map[history.Tx]history.ID
}

// Intend takes a transaction's message.
func (d *dispatch) Intend(r history.Intent) {
	d.ids[r.Tx] = r.ID
	d.tally.Intend(r)
}

// judgeInbox stops the consumers, lets the checker judge, and writes the report.
func (r *run) judgeInbox(ctx context.Context, drained error) (*Report, error) {
	if drained != nil {
		r.failf("%v", drained)
	}
	if err := r.crew.stop(ctx); err != nil {
		r.failf("%v", err)
	}
	if err := errors.Join(r.noteEffects(ctx), r.noteFaults()); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.events"))
	if err != nil {
		return nil, err
	}
	verdict, err := history.CheckFiles(files, history.Options{Effects: history.OnceInOrder, Unread: true}, history.Space{})
	if err != nil {
		return nil, err
	}
	return r.report(verdict, files)
}

// noteEffects writes the history of the effects.
func (r *run) noteEffects(ctx context.Context) error {
	e, err := newEvents(filepath.Join(r.dir, "effects.events"), r.origin)
	if err != nil {
		return err
	}
	err = r.effects(ctx, func(row Effect) error {
		id, err := postbag.ParseID(row.ID)
		if err != nil {
			return fmt.Errorf("chaos: an effect of %q, which is no message: %w", row.ID, err)
		}
		one := history.Effect{ID: history.ID(id), Key: row.Key, Position: uint64(row.Position), At: row.At}
		if sum, err := hex.DecodeString(row.Sum); err != nil || copy(one.Payload[:], sum) < len(one.Payload) {
			return fmt.Errorf("chaos: the effect of %s has the sum %q, which is none", row.ID, row.Sum)
		}
		e.Apply(one)
		return nil
	})
	return errors.Join(err, e.Close())
}

// inboxFaults are all that may come in a run of an inbox: none that concerns the outbox alone.
func (r *run) inboxFaults() []Fault {
	out := append(consumerFaults(r.crew), r.producers.fault("SIGKILL of a producer", NoRelay, r.producers.kill),
		r.producers.frozen("SIGSTOP of a producer", NoRelay, time.Second, 3*ttl))
	for _, f := range append(r.database.Faults(), r.place.Faults()...) {
		if !f.Outbox && !f.Wipes {
			out = append(out, f)
		}
	}
	return out
}

// consumerFaults are what happens to consumers.
func consumerFaults(c *crew) []Fault {
	return []Fault{
		c.fault("SIGKILL of a consumer", NoRelay, c.kill),
		c.fault("SIGTERM of a consumer", NoRelay, c.restart),
		c.all("SIGKILL of all consumers", NoRelay, c.kill),
		c.frozen("SIGSTOP of a consumer beyond its session", NoRelay, SessionTimeout+2*time.Second, 2*SessionTimeout),
		{
			Name: "a consumer joins and leaves", Room: Processes, Least: 2 * youth, Most: 8 * time.Second,
			Begin: func(context.Context, *Strike) (func(context.Context) error, error) { return c.join() },
		},
	}
}

// SessionTimeout is after how long without a sign of life a Taker's sources should lose to others what they have, where the broker
// lets them say so.
const SessionTimeout = 6 * time.Second
