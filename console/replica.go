package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// DefaultReplicaLag is how far a replica may be behind that is read from.
const DefaultReplicaLag = 30 * time.Second

// leastReplicaLag is the least that can be asked for: how far a replica is, is looked at every two seconds.
const leastReplicaLag = 5 * time.Second

// replicaPatience is how long a look at a replica may take, of which nobody knows whether it still answers.
const replicaPatience = 2 * time.Second

// ReadFrom says where a state was read, in JSON.
type ReadFrom struct {
	// From is replica or primary.
	From string `json:"from"`
	// How many seconds ago the replica had all that the primary had. It may have some of what came since. None of the primary.
	Age float64 `json:"age,omitempty"`
	// Why it was not read from the replica, or why from one that is too far behind.
	Why string `json:"why,omitempty"`
}

// reading is where something was read.
type reading struct {
	replica bool
	asOf    time.Time
	why     string
}

// readFrom says it of now. Nil: the database has no replica.
func (r *reading) readFrom() *ReadFrom {
	switch {
	case r == nil:
		return nil
	case r.replica:
		return &ReadFrom{"replica", max(time.Since(r.asOf), 0).Seconds(), r.why}
	}
	return &ReadFrom{From: "primary", Why: r.why}
}

// text says it to people.
func (r *ReadFrom) text() string {
	text := "From the primary"
	if r.From == "replica" {
		age := time.Duration(r.Age * float64(time.Second))
		text = "As of " + operations.Span(age) + " ago, from the replica"
		if age < time.Second {
			text = "As of less than a second ago, from the replica"
		}
	}
	if r.Why != "" {
		text += ": " + r.Why
	}
	return text + "."
}

// replica is one that a database is read from.
type replica struct {
	open func(context.Context) (store.Reader, error)
	most time.Duration
	// look has the place of the one who looks how far it is.
	look chan struct{}

	mu     sync.Mutex
	reader store.Reader // nil: it is not open
	ops    operations.Store
	// looked is when somebody looked last, asOf when the replica had all, away why it cannot be read, and lost why the primary did not answer.
	looked, asOf time.Time
	away, lost   error
	// changed is when this console gave a command last.
	changed time.Time
}

func newReplica(d *Database) *replica {
	if d.Replica == nil {
		return nil
	}
	return &replica{open: d.Replica, most: cmp.Or(d.ReplicaLag, DefaultReplicaLag), look: make(chan struct{}, 1)}
}

// asks puts one question, to the replica or the primary, when there is a place. The question may be put twice.
func (d *database) asks(ctx context.Context, question func(context.Context, operations.Store) error) error {
	return d.asksAt(ctx, d.places, question)
}

func (d *database) asksAt(ctx context.Context, gate chan struct{}, question func(context.Context, operations.Store) error) error {
	return d.askAt(ctx, gate, func(ctx context.Context) error {
		if d.replica == nil {
			return question(ctx, d.ops)
		}
		from := d.choose(ctx)
		if from.replica {
			err := d.askReplica(readIn(ctx, from), question)
			if err == nil || ctx.Err() != nil {
				noteRead(ctx, d.name, from)
				return err
			}
			from = d.refused(err)
		}
		noteRead(ctx, d.name, from)
		return question(readIn(ctx, from), d.ops)
	})
}

type readInKey struct{}

// readIn has a question know where it is asked.
func readIn(ctx context.Context, from reading) context.Context {
	return context.WithValue(ctx, readInKey{}, from)
}

// placeOf is where a question is asked. Nil: there is no replica.
func placeOf(ctx context.Context) *reading {
	if from, is := ctx.Value(readInKey{}).(reading); is {
		return &from
	}
	return nil
}

// askReplica puts a question to the replica. It gets half of the time, so that the primary can answer in the other.
func (d *database) askReplica(ctx context.Context, question func(context.Context, operations.Store) error) error {
	if end, is := ctx.Deadline(); is {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, time.Now().Add(time.Until(end)/2))
		defer cancel()
	}
	return question(ctx, d.replica.ops)
}

// refused says why the primary is asked what the replica was asked first.
func (d *database) refused(err error) reading {
	switch code, _ := statusOf(err); code {
	case http.StatusBadRequest, http.StatusNotFound: // it answered, and what it does not have the primary may
		return reading{why: "the replica does not have it"}
	case http.StatusGatewayTimeout:
		return reading{why: "the replica did not answer in time"}
	}
	d.replica.mu.Lock()
	defer d.replica.mu.Unlock()
	d.replica.looked = time.Time{} // it may be away
	if errors.Is(err, store.ErrAgain) {
		return reading{why: "the replica ended the question, to go on with what the primary did"}
	}
	return reading{why: "the replica did not answer"}
}

// choose says where to read.
func (d *database) choose(ctx context.Context) reading {
	if wantsPrimary(ctx) {
		return reading{why: "the one who asks wants that"}
	}
	r := d.replica
	d.lookAtReplica(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	age := time.Since(r.asOf)
	switch {
	case r.away != nil:
		return reading{why: replicaText(r.away)}
	case r.lost != nil && !r.asOf.IsZero():
		return reading{replica: true, asOf: r.asOf, why: "the primary does not answer"}
	case r.lost != nil:
		return reading{why: "the primary does not say how far it is"}
	case !r.asOf.After(r.changed):
		return reading{why: "something was changed here, and the replica may not have it yet"}
	case age > r.most:
		return reading{why: fmt.Sprintf("the replica is %s behind, and may be %s", operations.Span(age), operations.Span(r.most))}
	}
	return reading{replica: true, asOf: r.asOf}
}

// replicaText says why a replica is not read. What a driver says is in the way here.
func replicaText(err error) string {
	switch {
	case errors.Is(err, store.ErrNoReplica):
		return "what is named as the replica is none, or was promoted"
	case errors.Is(err, store.ErrOtherDatabase):
		return "what is named as the replica has another database, or another history of it"
	case errors.Is(err, store.ErrSchema):
		return "the replica has not the schema that this console needs"
	case errors.Is(err, store.ErrBehind):
		return "the replica is behind, and by how much is not known yet"
	case errors.Is(err, store.ErrDenied):
		return "the role has not the rights that it needs on the replica"
	}
	return "the replica does not answer"
}

// lookAtReplica looks how far the replica is, unless somebody did a moment ago.
func (d *database) lookAtReplica(ctx context.Context) {
	r, asker := d.replica, ctx
	ctx, cancel := context.WithTimeout(ctx, replicaPatience)
	defer cancel()
	select {
	case r.look <- struct{}{}:
		defer func() { <-r.look }()
	case <-ctx.Done():
		return
	}
	r.mu.Lock()
	recent := time.Since(r.looked) < fresh
	r.mu.Unlock()
	if recent {
		return
	}
	asOf, away, lost := d.reached(ctx)
	if asker.Err() != nil { // the one who asked has gone, or has no time left, which says nothing of the servers
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked, r.lost = time.Now(), lost
	if lost != nil && (errors.Is(r.away, store.ErrNoReplica) || errors.Is(r.away, store.ErrOtherDatabase)) {
		return // what it is does not change since nobody can be asked
	}
	r.away = away
	if away == nil && lost == nil {
		r.asOf = asOf
	}
}

// reached asks the primary how far it is, and the replica whether it has reached that.
func (d *database) reached(ctx context.Context) (asOf time.Time, away, lost error) {
	r := d.replica
	if r.reader == nil { // nobody else looks
		reader, err := r.open(ctx)
		if err != nil {
			return asOf, err, nil
		}
		r.mu.Lock()
		r.reader, r.ops = reader, operations.Reading(reader)
		r.mu.Unlock()
	}
	if d.primary == nil {
		return asOf, store.ErrNoReplica, nil
	}
	m, err := d.primary.Watermark(ctx)
	if errors.Is(err, store.ErrDenied) || errors.Is(err, store.ErrNoReplica) {
		return asOf, err, nil
	}
	if err != nil {
		return asOf, nil, err
	}
	asOf, err = r.reader.Reached(ctx, m)
	return asOf, err, nil
}

// commanded notes that this console changed something: until the replica has that, the primary is read.
func (d *database) commanded() {
	if d.replica == nil {
		return
	}
	d.replica.mu.Lock()
	defer d.replica.mu.Unlock()
	d.replica.changed = time.Now()
}

// readings are where a request was answered from, by the name of the database.
type readings struct {
	// primary: the one who asks wants what is so at the moment, such as the command line, which goes by it.
	primary bool

	mu sync.Mutex
	of map[string]reading
}

type readingsKey struct{}

// withReadings has the request note where it is answered from.
func withReadings(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), readingsKey{}, &readings{
		primary: r.Header.Get(ReadFromHeader) == "primary", of: make(map[string]reading),
	}))
}

// wantsPrimary says whether the primary alone is to be asked.
func wantsPrimary(ctx context.Context) bool {
	all, is := ctx.Value(readingsKey{}).(*readings)
	return is && all.primary
}

// noteRead notes where something was read. Of two readings the one that needs more words stays: the oldest, or one of the primary.
func noteRead(ctx context.Context, database string, from reading) {
	all, is := ctx.Value(readingsKey{}).(*readings)
	if !is {
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	old, had := all.of[database]
	if had && old.replica && (!from.replica || !from.asOf.Before(old.asOf)) {
		return
	}
	all.of[database] = from
}

// readOf returns where a request has read a database. Nil: it has not, or there is no replica.
func readOf(ctx context.Context, database string) *reading {
	all, is := ctx.Value(readingsKey{}).(*readings)
	if !is {
		return nil
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	from, is := all.of[database]
	if !is {
		return nil
	}
	return &from
}

// ReadFrom says where the page was read from. Empty: it says so itself, or there is no replica.
func (s *sheet) ReadFrom() string {
	if from := readOf(s.ctx, s.Database).readFrom(); from != nil {
		return from.text()
	}
	return ""
}

// Text says to people where a state was read from.
func (r *ReadFrom) Text() string { return r.text() }

// ReadFromHeader says in an answer where it was read, if the database has a replica: replica or primary. In a request of a program,
// primary asks for the primary alone.
const ReadFromHeader = "Postbag-Read-From"

// Headers of answers that were read from a database with a replica.
const (
	readAgeHeader = "Postbag-Read-Age"
	readWhyHeader = "Postbag-Read-Why"
)

// sayRead says in headers where an answer was read.
func sayRead(w http.ResponseWriter, r *http.Request) {
	from := readOf(r.Context(), r.PathValue("database")).readFrom()
	if from == nil {
		return
	}
	w.Header().Set(ReadFromHeader, from.From)
	if from.From == "replica" {
		w.Header().Set(readAgeHeader, strconv.FormatFloat(from.Age, 'f', 1, 64))
	}
	if from.Why != "" {
		w.Header().Set(readWhyHeader, from.Why)
	}
}

// withReading has a question note where it was answered, for itself alone.
func withReading(ctx context.Context) context.Context {
	return context.WithValue(ctx, readingsKey{}, &readings{primary: wantsPrimary(ctx), of: make(map[string]reading)})
}

// noteSeen notes where the latest overview was read.
func (d *database) noteSeen(ctx context.Context) {
	d.mu.Lock()
	in := d.seenIn
	d.mu.Unlock()
	if in != nil {
		noteRead(ctx, d.name, *in)
	}
}
