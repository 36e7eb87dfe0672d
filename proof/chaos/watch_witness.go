package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/proof/history"
)

// A broker that an operator empties loses what was accepted and not yet read, and that is no fault of Postbag's. To be exact about
// it, each relay's destination has a witness: a wrapper that notes which messages were accepted, and from when to when the call
// lasted. A message that is missing is excused if it was accepted by a call that overlaps the time of a wipe, which begins when the
// consumer has read everything that was there. One that comes again after that has no place in its key's order: nobody saw its first.

// acceptance is a line of a witness's file.
type acceptance struct {
	ID   postbag.ID `json:"id"`
	From time.Time  `json:"from"`
	To   time.Time  `json:"to"`
}

// witness notes what a destination accepts.
type witness struct {
	broker.Destination

	notes *notes
}

type notes struct {
	mu  sync.Mutex
	out *json.Encoder
}

// watch puts a witness before a destination.
func watch(d broker.Destination, path string) (broker.Destination, func() error, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if exactlyOnceOf(d) {
		return d, f.Close, nil // nothing is lost sight of there: what is read was committed
	}
	n := &notes{out: json.NewEncoder(f)}
	return broker.Wrap(d, func(next broker.Destination) broker.Destination { return &witness{next, n} }), f.Close, nil
}

func exactlyOnceOf(d broker.Destination) bool { return d.Features().Transactions }

func (n *notes) add(m *broker.Delivery, from time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.out.Encode(acceptance{ID: m.ID, From: from, To: time.Now()}); err != nil {
		return // what is not noted is not excused
	}
}

// Publish implements broker.Destination.
func (w *witness) Publish(ctx context.Context, msgs []broker.Delivery, report func(i int, r broker.Result)) {
	from := time.Now()
	w.Destination.Publish(ctx, msgs, func(i int, r broker.Result) {
		if r.Outcome == broker.Accepted {
			w.notes.add(&msgs[i], from)
		}
		report(i, r)
	})
}

// readSoon is how long a wipe waits for what was stored to be read.
const readSoon = 30 * time.Second

// Wipe is what a fault does that empties the broker: it waits until everything that was stored has been read, for a while, and then
// runs empty. More is not called meanwhile: a reader that goes on as if nothing had happened would skip what comes first, or
// read something again, and so empty has to see that the next More reads from the beginning. What was accepted between the two is excused if it does not arrive, and has no order, since it may have been there first.
func (s *Strike) Wipe(ctx context.Context, empty func(context.Context) error) error {
	r := s.run
	var from time.Time
	soon, cancel := context.WithTimeout(ctx, readSoon)
	defer cancel()
	err := Until(soon, func() bool {
		r.consumer.mu.Lock()
		defer r.consumer.mu.Unlock()
		from = r.consumer.upTo
		return time.Since(from) < 300*time.Millisecond
	})
	if err != nil {
		s.Note(fmt.Sprintf("what was stored in the last %v was not read yet", time.Since(from).Round(time.Second)))
	}
	r.consumer.mu.Lock()
	err = empty(ctx)
	r.consumer.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wipes = append(r.wipes, [2]time.Time{from, time.Now()})
	return err
}

// excused are the messages that a wipe may have taken away unread.
func (r *run) excused() (map[history.ID]bool, error) {
	out := map[history.ID]bool{}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.accepted"))
	if err != nil || len(r.wipes) == 0 {
		return out, err
	}
	for _, name := range files {
		if err := r.excusedBy(name, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *run) excusedBy(name string, out map[history.ID]bool) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var a acceptance
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			if _, torn := errors.AsType[*json.SyntaxError](err); torn {
				continue // a relay was killed while it wrote
			}
			return fmt.Errorf("chaos: %s: %w", name, err)
		}
		for _, w := range r.wipes {
			if a.From.Before(w[1]) && a.To.After(w[0]) {
				out[history.ID(a.ID)] = true
			}
		}
	}
	return nil
}
