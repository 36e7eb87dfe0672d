package chaos

import (
	"context"
	"slices"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/store"
)

// Store is a kind of database: one of the two halves of what goes through the harness. Start is called once, in the process that
// leads the run; Open and Write in the processes of relays and producers, with a DSN that the Database gave.
type Store interface {
	// Name is how PAIR calls it: "postgresql".
	Name() string
	// Start starts the database on private files, with a box "outbox" in it and whatever Write needs.
	Start(ctx context.Context, t Terms) (Database, error)
	// Open opens the store for a relay, and for the operator; closing frees it.
	Open(ctx context.Context, dsn string) (s store.Store, closing func() error, err error)
	// Write opens what a producer writes with, over connections of its own.
	Write(ctx context.Context, dsn string) (Writer, error)
}

// Terms are what the run gives an adapter.
type Terms struct {
	// Dir is a folder for the adapter alone, which the run removes.
	Dir string
	// Only are the names of the faults that may come; empty: all. What an adapter needs for others alone it need not start.
	Only []string

	// Inbox says that messages are taken in from the broker, and applied in the database.
	Inbox bool

	store, broker string // names, for Child
}

// Wants says whether a fault may come.
func (t Terms) Wants(fault string) bool {
	return len(t.Only) == 0 || slices.Contains(t.Only, fault)
}

// Database is a started Store. One whose log strangers can damage is [Damageable].
type Database interface {
	// Version says what runs: "PostgreSQL 15.18".
	Version() string
	// DSN is where processes of a role connect. It may hold a password and is passed on in environments only.
	DSN(role Role) string
	// Faults are the database's own, and those of the network before it.
	Faults() []Fault
	// Close ends all that Start started. It may be called twice.
	Close() error
}

// Role is what a process connects for.
type Role string

// The roles.
const (
	// Relays may find a broken network before the servers.
	Relays Role = "relay"
	// Producers may too, and not together with the relays.
	Producers Role = "producer"
	// Operators have a way that is never broken, though the server may be down.
	Operators Role = "operator"
)

// Writer is what a producer writes with. Its methods are called concurrently.
type Writer interface {
	// Write does one transaction: it inserts a row that names the transaction, publishes its messages, waits as the transaction
	// says, and commits or rolls back. An error that matches [postbag.ErrCommitUnknown] says that it may stand; any other that it
	// does not.
	Write(ctx context.Context, t *Transaction) error
	// Stands finds out, by the row, whether a transaction stands whose outcome is unknown, and keeps one that does not from coming
	// later.
	Stands(ctx context.Context, name string) (bool, error)
	// Cancel takes a scheduled message back and says whether it could, as [postbag.Publisher.Cancel] does in a transaction of its own.
	Cancel(ctx context.Context, t *Transaction, id postbag.ID) (bool, error)
	// Close frees the connections.
	Close() error
}

// Transaction is what a producer writes at a time.
type Transaction struct {
	// Name is unique, of letters, digits and hyphens.
	Name     string
	Messages []postbag.Message
	// Delay passes between the writing and the end.
	Delay time.Duration
	// Rollback ends it with a rollback, which Write reports as nil.
	Rollback bool
	// Plain asks for an INSERT in SQL where the store has one, in place of the library.
	Plain bool
	// Prepared asks for two phases, where the store has such, with the Delay between them.
	Prepared bool
	// Undone, if not nil, is published in a savepoint that rolls back, where the store has such.
	Undone *postbag.Message

	poison map[postbag.ID]bool // of Messages, those that the destination refuses
}

// Broker is a kind of destination: the other half. Start is called once, in the process that leads; Open in those of relays.
type Broker interface {
	// Name is how PAIR calls it: "nats".
	Name() string
	// Start starts the broker with a place for the messages.
	Start(ctx context.Context, t Terms) (Place, error)
	// Open opens the destination for a relay.
	Open(ctx context.Context, dsn string) (broker.Destination, error)
	// Poison makes a message one that the destination refuses for good, and returns false if it cannot.
	Poison(m *postbag.Message) bool
}

// Place is a started Broker, and where all messages of a run go. One that has a second topic is [Branched].
type Place interface {
	// Version says what runs: "NATS 2.15".
	Version() string
	// DSN is where relays connect.
	DSN() string
	// Topic is that of all messages, or of most.
	Topic() string
	// More returns what has been stored since it was last called, each key's messages in their order, and waits for it a
	// moment at most. It is called by one goroutine. An error is not the end: it is called again.
	More(ctx context.Context) ([]Arrival, error)
	// Faults are the broker's own, and those of the network before it.
	Faults() []Fault
	// Close ends all that Start started. It may be called twice.
	Close() error
}

// Arrival is a message as it lies in the broker.
type Arrival struct {
	// Key, Headers and Payload are those of the message.
	Key     string
	Headers map[string]string
	Payload []byte
	// Place names what the broker keeps one order of, where it keeps several: a partition. Arrivals of a place come in its order.
	Place string
	// From and To are the earliest and the latest time at which it was stored.
	From, To time.Time
}

// ExactlyOnce is implemented by a Broker whose relays deliver in transactions, so that no fault explains a duplicate.
type ExactlyOnce interface{ ExactlyOnce() bool }
