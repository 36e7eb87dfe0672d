package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag"
)

// How writers of a MySQL or MariaDB server are measured: eight of them, each
// message in a transaction of its own, for so long.
const (
	sqlWriters  = 8
	sqlWriteFor = 5 * time.Second
)

// sqlProducers is what writers that go as fast as they can commit, with a relay in
// a process of its own and without. All share the machine: what the relay's own
// work takes of it, the writers lose.
func sqlProducers(name string, oracle bool) scenario {
	return scenario{
		name: "7-producers-" + name, what: name + ": writers with a relay process that drains what they write, messages/s",
		goal: atLeast("with relay", "alone", 0.95),
		ways: []way{{"alone", writing(name, oracle, false, 0)}, {"with relay", writing(name, oracle, true, 0)}},
	}
}

// sqlProducersPaced is the same for writers that want seven tenths of what they
// could commit alone: the machine has room for a relay, and what is lost would be
// lost to waiting for it.
func sqlProducersPaced(name string, oracle bool) scenario {
	return scenario{
		name: "7-producers-" + name + "-paced", what: name + ": writers at 70 % of what they commit alone, the same, messages/s",
		goal: atLeast("with relay", "alone", 0.95),
		ways: []way{{"alone", writing(name, oracle, false, 0.7)}, {"with relay", writing(name, oracle, true, 0.7)}},
	}
}

// writing has writers commit for a while. share is of the rate that was measured
// at full speed without a relay; zero: as fast as they can.
func writing(name string, oracle, withRelay bool, share float64) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (_ sample, err error) {
		if share > 0 && l.alone[name] == 0 {
			if _, err := writing(name, oracle, false, 0)(ctx, l); err != nil {
				return sample{}, err
			}
		}
		b, err := mysqlBox(oracle)(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, b.close()) }()
		if withRelay {
			stop, err := relayProcess(ctx, kindMySQL, b.dsn, "outbox")
			if err != nil {
				return sample{}, err
			}
			defer func() { err = errors.Join(err, stop()) }()
		}
		var every time.Duration
		if share > 0 {
			every = time.Duration(float64(sqlWriters) / (share * l.alone[name]) * float64(time.Second))
		}
		v, err := b.write(ctx, l, every)
		if err == nil && !withRelay && share == 0 {
			if l.alone == nil {
				l.alone = make(map[string]float64)
			}
			l.alone[name] = max(l.alone[name], v.Value)
		}
		return v, err
	}
}

// write has each writer commit a message after another, one every so often; zero:
// at once.
func (b *sqlBox) write(ctx context.Context, l *testbed, every time.Duration) (sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var n atomic.Int64
	var all sync.WaitGroup
	var mu sync.Mutex
	var took []time.Duration
	waits, err := b.lockWaits(ctx)
	if err != nil {
		return sample{}, err
	}
	w := l.start()
	begun := time.Now()
	for i := range sqlWriters {
		all.Go(func() {
			var own []time.Duration
			for next := begun; time.Since(begun) < sqlWriteFor && ctx.Err() == nil; next = next.Add(every) {
				time.Sleep(time.Until(next))
				from := time.Now()
				if err := b.append(ctx, []postbag.Message{newMessage(i)}); err != nil {
					cancel(err)
					return
				}
				own = append(own, time.Since(from))
				n.Add(1)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	all.Wait()
	v := w.stop(int(n.Load()))
	if err := context.Cause(ctx); err != nil {
		return v, err
	}
	after, err := b.lockWaits(ctx)
	slices.Sort(took)
	v.Extra["commit p50 ms"] = took[len(took)/2].Seconds() * 1000
	v.Extra["commit p99 ms"] = took[len(took)*99/100].Seconds() * 1000
	v.Extra["waits for a row's lock"] = float64(after - waits)
	return v, err
}

// lockWaits is how often the server has had somebody wait for the lock of a row.
func (b *sqlBox) lockWaits(ctx context.Context) (n int64, err error) {
	var name string
	err = b.db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'").Scan(&name, &n)
	if err != nil {
		err = fmt.Errorf("count waits for locks: %w", err)
	}
	return n, err
}
