package memsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"sync"

	"github.com/postbag/postbag/source"
)

// Broker holds messages for groups of sources. It is safe for concurrent use.
type Broker struct {
	options Options

	mu     sync.Mutex
	logs   []*log
	groups map[string]*group
	held   int    // messages in all logs
	spread int    // the partition of the next message without a key
	epochs uint64 // the last one
	number uint64 // of the last delivery
	down   error  // why every call fails
	losing bool   // acks get lost
	change chan struct{}
}

// log is a partition with its messages from the offset base on.
type log struct {
	name source.Partition
	base uint64
	held []source.Message
}

func (l *log) end() uint64 { return l.base + uint64(len(l.held)) }

// ErrFull says that the broker holds as many messages as it may.
var ErrFull = errors.New("memsource: the broker is full; ack messages, or raise Options.MaxMessages")

// New makes a broker without messages.
func New(o Options) *Broker {
	b := &Broker{options: o.filled(), groups: map[string]*group{}, change: make(chan struct{})}
	for i := range b.options.Partitions {
		b.logs = append(b.logs, &log{name: source.Partition(b.options.Name + "/" + strconv.Itoa(i))})
	}
	return b
}

// Publish stores messages, all or none. The broker sets Place, Partition, Deliveries and
// Receipt, and where they are empty Topic and Time. Err is kept, so that you can publish a
// message that a client cannot decode. It keeps a copy. The error is ErrFull.
func (b *Broker) Publish(msgs ...source.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full(len(msgs)) {
		return ErrFull
	}
	for _, m := range msgs {
		b.store(b.partitionOf(m.Key), m)
	}
	b.wake()
	return nil
}

// PublishTo is Publish to one partition, whatever the keys. The first is zero. A partition
// that does not exist is an error.
func (b *Broker) PublishTo(partition int, msgs ...source.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case partition < 0 || partition >= len(b.logs):
		return fmt.Errorf("memsource: there is no partition %d; the last one is %d", partition, len(b.logs)-1)
	case b.full(len(msgs)):
		return ErrFull
	}
	for _, m := range msgs {
		b.store(partition, m)
	}
	b.wake()
	return nil
}

func (b *Broker) partitionOf(key string) int {
	if key == "" {
		b.spread++
		return b.spread % len(b.logs)
	}
	hash := fnv.New32a()
	hash.Write([]byte(key))
	return int(hash.Sum32() % uint32(len(b.logs)))
}

func (b *Broker) store(partition int, m source.Message) {
	l := b.logs[partition]
	m = clone(m)
	m.Partition, m.Place, m.Deliveries, m.Receipt = l.name, source.Place{}, 0, source.Receipt{}
	if !b.options.NoPlaces {
		m.Place = source.Place{Source: b.options.Name, Partition: strconv.Itoa(partition), Offset: l.end()}
	}
	if m.Topic == "" {
		m.Topic = b.options.Name
	}
	if m.Time.IsZero() {
		m.Time = b.options.Clock.Now()
	}
	l.held = append(l.held, m)
	b.held++
	for _, g := range b.groups {
		g.parts[partition].states = append(g.parts[partition].states, state{})
	}
}

func clone(m source.Message) source.Message {
	m.Headers, m.Payload = slices.Clone(m.Headers), bytes.Clone(m.Payload)
	return m
}

// wake lets everybody who waits look again. The caller holds the lock.
func (b *Broker) wake() {
	close(b.change)
	b.change = make(chan struct{})
}

// full says whether there is no room for n messages. The caller holds the lock.
func (b *Broker) full(n int) bool {
	most := b.options.MaxMessages
	if b.held+n > most && len(b.groups) > 0 {
		for i := range b.logs {
			b.trim(i, true)
		}
	}
	return b.held+n > most
}

// trim forgets what every group has acked, at the beginning of a partition. Unless it has
// to be now, it waits until that is half of it.
func (b *Broker) trim(partition int, now bool) {
	l := b.logs[partition]
	first := l.end()
	for _, g := range b.groups {
		first = min(first, g.parts[partition].first)
	}
	n := int(first - l.base)
	if n == 0 || !now && n < len(l.held)/2 {
		return
	}
	b.held -= n
	l.base, l.held = first, slices.Delete(l.held, 0, n)
	for _, g := range b.groups {
		g.trim(g.parts[partition], n)
	}
}

// Unacked returns how many messages a group has not acked, those at work included.
func (b *Broker) Unacked(name string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unacked(name)
}

func (b *Broker) unacked(name string) (n int) {
	g := b.groups[name]
	if g == nil {
		return b.held
	}
	for i, p := range g.parts {
		for at := p.first; at < b.logs[i].end(); at++ {
			if !p.states[at-b.logs[i].base].acked {
				n++
			}
		}
	}
	return n
}

// AtWork returns how many messages are at work in a group.
func (b *Broker) AtWork(name string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g := b.groups[name]; g != nil {
		for _, s := range g.members {
			n += s.atWork
		}
	}
	return n
}

// WaitUntilAcked returns when a group has acked every message, or with an error when ctx
// ends first.
func (b *Broker) WaitUntilAcked(ctx context.Context, name string) error {
	for {
		b.mu.Lock()
		n, change := b.unacked(name), b.change
		b.mu.Unlock()
		if n == 0 {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return fmt.Errorf("memsource: %d messages were not acked before the context ended; see whether the consumer runs: %w",
				n, context.Cause(ctx))
		}
	}
}
