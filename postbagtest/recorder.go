package postbagtest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"

	"github.com/postbag/postbag"
)

// Recorder is a store that keeps in memory what is published to it. It records what InTx
// committed. It records what is published outside of InTx at once, because it cannot see
// the end of other transactions. It implements postbag.Appender, over any kind of
// transaction and for any box.
//
// The zero Recorder is ready; its fields are set before it is used. It is safe
// for concurrent use and must not be copied.
type Recorder[Tx any] struct {
	// Tx is the transaction that InTx and Sender use. Where Tx is an interface
	// it must be set, for pgx.Tx for instance to struct{ pgx.Tx }{}. Defaults
	// to the zero Tx, or to a pointer to a new zero value.
	Tx Tx

	// AppendErr, if not nil, is what Append and Lock return. Nothing is
	// recorded then.
	AppendErr error

	// CommitErr, if not nil, is what InTx returns in place of committing, such
	// as postbag.ErrCommitUnknown. Nothing is recorded then.
	CommitErr error

	mu      sync.Mutex
	records []Record // committed
	locked  []Lock   // outside of InTx
	woken   map[string]int
}

// Record is one published message.
type Record struct {
	postbag.Message

	// Box is where it was published.
	Box string
	// Ordered: its key was locked before, as PublishOrdered does, in the same
	// InTx, or, outside of one, at any time.
	Ordered bool
}

// Lock is one key that was locked.
type Lock struct{ Box, Key string }

// scope is one InTx that is running. Its Recorder's mutex guards it.
type scope struct {
	added    []Record
	canceled []Record
	locked   []Lock
	ended    bool
}

// scopeKey finds a Recorder's own scope in a context.
type scopeKey struct{ recorder any }

var errEnded = errors.New("postbagtest: the transaction has ended; publish with the context of the InTx that is running")

// Append implements postbag.Appender. It records copies.
func (r *Recorder[Tx]) Append(ctx context.Context, _ Tx, box string, msgs []postbag.Message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.scope(ctx)
	switch {
	case r.AppendErr != nil:
		return r.AppendErr
	case s != nil && s.ended:
		return errEnded
	}
	to, locked := &r.records, r.locked
	if s != nil {
		to, locked = &s.added, s.locked
	}
	for _, m := range msgs {
		ordered := slices.Contains(locked, Lock{Box: box, Key: m.Key})
		*to = append(*to, Record{Message: m.Clone(), Box: box, Ordered: ordered})
	}
	return nil
}

// Lock implements postbag.Appender. Nobody ever waits.
func (r *Recorder[Tx]) Lock(ctx context.Context, _ Tx, box string, keys []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.scope(ctx)
	switch {
	case r.AppendErr != nil:
		return r.AppendErr
	case s != nil && s.ended:
		return errEnded
	}
	to := &r.locked
	if s != nil {
		to = &s.locked
	}
	for _, key := range keys {
		*to = append(*to, Lock{Box: box, Key: key})
	}
	return nil
}

// InTx implements postbag.Appender. What fn publishes is recorded when it
// returns nil, and forgotten when it returns an error or panics. It is told
// from what others publish meanwhile by the context that fn is given.
func (r *Recorder[Tx]) InTx(ctx context.Context, fn func(context.Context, Tx) error) error {
	tx, err := r.tx()
	if err != nil {
		return err
	}
	s := &scope{}
	defer r.end(s)
	if err := fn(context.WithValue(ctx, scopeKey{r}, s), tx); err != nil {
		return err
	}
	if r.CommitErr != nil {
		return r.CommitErr
	}
	r.commit(s)
	return nil
}

func (r *Recorder[Tx]) commit(s *scope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, gone := range s.canceled {
		r.records = slices.DeleteFunc(r.records, gone.same)
	}
	r.records = append(r.records, s.added...)
}

func (r *Recorder[Tx]) end(s *scope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.ended = true
}

// Wake implements postbag.Appender. It counts.
func (r *Recorder[Tx]) Wake(box string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.woken == nil {
		r.woken = make(map[string]int)
	}
	r.woken[box]++
}

// Woken returns how often the relays of box were woken.
func (r *Recorder[Tx]) Woken(box string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.woken[box]
}

// Records returns copies of all that was published, to all boxes, in the order
// of commits.
func (r *Recorder[Tx]) Records() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Record, len(r.records))
	for i, rec := range r.records {
		rec.Message = rec.Clone()
		all[i] = rec
	}
	return all
}

// Reset forgets all that was recorded. Its fields stay.
func (r *Recorder[Tx]) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records, r.locked, r.woken = nil, nil, nil
}

// Sender returns a Sender over r, for code that knows no more. What it publishes
// is recorded at once. Bad options end the test.
func (r *Recorder[Tx]) Sender(t TB, o postbag.PublisherOptions) postbag.Sender {
	t.Helper()
	tx, err := r.tx()
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	pub, err := postbag.NewPublisher(r, o)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	return pub.Bind(tx)
}

// scope returns the InTx of r that ctx comes from, or nil.
func (r *Recorder[Tx]) scope(ctx context.Context) *scope {
	s, _ := ctx.Value(scopeKey{r}).(*scope)
	return s
}

// tx returns the transaction to hand out, which is never nil.
func (r *Recorder[Tx]) tx() (Tx, error) {
	kind := reflect.TypeFor[Tx]()
	switch v := reflect.ValueOf(&r.Tx).Elem(); {
	case kind.Kind() == reflect.Pointer && v.IsNil():
		fresh, _ := reflect.TypeAssert[Tx](reflect.New(kind.Elem())) // it is one
		return fresh, nil
	case kind.Kind() == reflect.Interface && v.IsNil():
		return r.Tx, errors.New("postbagtest: Recorder.Tx is nil; set it, for pgx.Tx for instance to struct{ pgx.Tx }{}")
	}
	return r.Tx, nil
}
