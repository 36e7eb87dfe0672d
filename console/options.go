package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// DefaultTimeout is how long a question to a database may take, with the wait for its place.
const DefaultTimeout = 10 * time.Second

// DefaultStreams is how many streams of events there are at a time.
const DefaultStreams = 10_000

// Options say what a console shows.
type Options struct {
	// Databases are those that it shows, at least one.
	Databases []Database
	// Payloads: it shows payloads and headers of messages to those who ask for them. Without it
	// nobody sees them, except what an error quotes.
	Payloads bool
	// AuditPayloads: each look at payload and headers of a message is in the audit log, with the name of the one who looks, before
	// they are shown. If it cannot be written, they are not shown. The store must be a store.Noter, as those of Postbag are.
	AuditPayloads bool
	// Redact hides parts of payloads and headers.
	Redact Redact
	// Commands: operators may give commands: retry or discard a message, pause or resume a subscription. Each is in the audit log.
	// Without it the console changes nothing.
	Commands bool
	// Edits: operators who may see payloads may publish a message again as a new one, with another payload or other headers. It needs
	// Commands and Payloads.
	Edits bool
	// Who gives commands and looks at payloads, for the audit log, where there is no login. Required with Commands and
	// AuditPayloads, unless there is Stranger.
	Who string
	// Timeout is how long a question to a database may take, with the wait for its place. Zero:
	// DefaultTimeout.
	Timeout time.Duration
	// Sample is how long lies between two samples of a database, less than a minute: the charts of the last hour are made of them. Each
	// costs one overview, and about 32 bytes of memory for each box. Zero: DefaultSample. Below zero: no samples are kept, and Run
	// reads only while somebody has a page open.
	Sample time.Duration
	// Streams is how many open pages and programs may be told of changes at a time. Each takes a connection. One more is refused with
	// 503 and Retry-After, and its page asks again and again instead. Zero: DefaultStreams.
	Streams int
	// Prometheus has charts of days, and how long messages took to be delivered. Nil: the console has the last hour, and only what a
	// store knows.
	Prometheus *Prometheus
	// Words puts the text of an error into words for your readers, such as without secrets. It is
	// called concurrently. Nil leaves it as it is.
	Words func(text string) string
	// Decode puts payloads that are no text into words, such as those of protocol buffers. Pages show its text beside the payload, as
	// JSON if it is that, to those who may see payloads. Not ok: it cannot. It is called concurrently, gets 1 MiB at most, and must
	// not keep or change the payload. Nil decodes nothing.
	Decode func(topic, typ string, payload []byte) (text string, ok bool)
	// TraceLink is the address of a trace, with {trace_id}, and {span_id} if you like, where the ids stand. A message whose header
	// traceparent names a trace links it, for those who may see headers. Empty: none does.
	TraceLink string
	// Stranger answers requests without a user (WithUser) for what is not for everybody, such as
	// with a page to log in. Nil: there is no login, and such requests may see everything.
	Stranger http.HandlerFunc
}

// Database is one that a console shows.
type Database struct {
	// Name stands in addresses and on pages: letters, digits, _ and -, and dots behind the first, at most 64.
	Name string
	// Store is where it is. It must be a store.Inspector and a store.Operator, as those of Postbag are.
	Store store.Store
	// Open opens it in place of Store, such as when it is away as the console begins. It is called when somebody asks, at most once
	// in two seconds and never twice at a time, until it returns a store. The context is that of the one who asks. The store is
	// yours to close, as Store is.
	Open func(ctx context.Context) (store.Store, error)
	// Replica opens a replica of the database, from which the console reads what need not be of the moment. It is called as Open
	// is, until it returns a reader, which is yours to close. The store must be a store.Primary. Nil: there is none.
	Replica func(ctx context.Context) (store.Reader, error)
	// ReplicaLag is how far the replica may be behind. Beyond that the primary is read. Zero: DefaultReplicaLag.
	ReplicaLag time.Duration
	// Named: commands to copy have --store-name with the name, since the file has several stores. If the console shows several
	// databases, they have it anyway.
	Named bool
}

var databaseName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`)

// Validate returns everything that is wrong with the options.
func (o *Options) Validate() error {
	var faults []error
	if len(o.Databases) == 0 {
		faults = append(faults, errors.New("console: there is no database to show; name one in Databases"))
	}
	seen := make(map[string]bool)
	for i, d := range o.Databases {
		if !databaseName.MatchString(d.Name) {
			faults = append(faults, fmt.Errorf("console: the name of Databases[%d], %.80q, is none; write letters, digits, _ and -, and dots behind the first, at most 64", i, d.Name))
		}
		if seen[d.Name] {
			faults = append(faults, fmt.Errorf("console: two databases are named %.64q; give each a name of its own", d.Name))
		}
		seen[d.Name] = true
		switch _, err := operations.Of(d.Store); {
		case (d.Store == nil) == (d.Open == nil):
			faults = append(faults, fmt.Errorf("console: Databases[%d] has neither Store nor Open, or both; give one of them", i))
		case d.Store != nil && err != nil:
			faults = append(faults, fmt.Errorf("console: Databases[%d]: %w", i, err))
		}
		faults = append(faults, d.replicaFaults(i)...)
	}
	if _, err := o.Redact.rules(); err != nil {
		faults = append(faults, err)
	}
	if (o.Commands || o.AuditPayloads) && o.Stranger == nil && o.Who == "" {
		faults = append(faults, errors.New("console: there are Commands or AuditPayloads, but no login, so nobody would be named in the audit log; set Who, or Stranger"))
	}
	if o.Edits && !(o.Commands && o.Payloads) {
		faults = append(faults, errors.New("console: Edits are commands of those who see payloads; set Commands and Payloads too"))
	}
	if o.Sample > 0 && (o.Sample < fresh || o.Sample >= rateOver) {
		faults = append(faults, fmt.Errorf("console: Sample is %v; choose from %v to less than %v, zero for %v, or a time below zero for no samples", o.Sample, fresh, rateOver, DefaultSample))
	}
	if err := validTraceLink(o.TraceLink); err != nil {
		faults = append(faults, err)
	}
	if o.Prometheus != nil {
		faults = append(faults, o.Prometheus.faults()...)
	}
	if o.Streams < 0 {
		faults = append(faults, fmt.Errorf("console: Streams is %d; choose a number above zero, or zero for %d", o.Streams, DefaultStreams))
	}
	if o.Timeout < 0 {
		faults = append(faults, fmt.Errorf("console: Timeout is %v; choose a positive time, or zero for %v", o.Timeout, DefaultTimeout))
	}
	return errors.Join(faults...)
}

// replicaFaults are those of the replica of database i.
func (d *Database) replicaFaults(i int) (faults []error) {
	if _, marks := d.Store.(store.Primary); d.Replica != nil && d.Store != nil && !marks {
		faults = append(faults, fmt.Errorf("console: Databases[%d] has a Replica, and its store is of a kind that has none; leave Replica out", i))
	}
	if d.ReplicaLag < 0 || d.ReplicaLag > 0 && (d.Replica == nil || d.ReplicaLag < leastReplicaLag) {
		faults = append(faults, fmt.Errorf("console: ReplicaLag of Databases[%d] is %v; choose at least %v for a Replica, or zero for %v", i, d.ReplicaLag, leastReplicaLag, DefaultReplicaLag))
	}
	return faults
}
