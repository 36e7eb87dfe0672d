package natsbroker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Source takes messages from a stream as one member of a durable pull consumer. Make it
// with OpenSource. It is safe for concurrent use; one goroutine fetches.
type Source struct {
	options     SourceOptions
	js          jetstream.JetStream
	nc          *nats.Conn
	owned       *trouble // of a connection that is ours to close, else nil
	nextSubject string   // where messages are asked for
	features    source.Features

	life  sourcekit.Life
	work  *atWork
	pulls *pulls
	cut   atomic.Bool // the connection was lost since Fetch looked

	inbox            *inbox
	confirming       sync.Mutex
	confirmations    map[uint64]*confirmation
	lastConfirmation uint64

	// Of the goroutine that fetches.
	attached        bool // what follows was asked for since the last doubt
	created         time.Time
	consumerCreated time.Time
	limits          jetstream.ConsumerConfig // of requests
	mirror          bool                     // the stream has the times of another one
	proved          time.Time                // when created was seen last, by the server's clock
	kept            time.Time                // when the pin was kept last
	misses          int                      // requests that failed in a row
	large           bool                     // the next message is larger than was asked for
	busy            bool                     // the next request must wait its turn
	heard           error                    // the connection's last error before the last request

	mu         sync.Mutex
	lost       []source.Partition // what the next Fetch says
	assignment assignment         // with OrderStream
}

var (
	_ source.Source   = (*Source)(nil)
	_ source.Extender = (*Source)(nil)
	_ source.Lagger   = (*Source)(nil)
)

// OpenSource returns a source. It makes the consumer if that does not exist. A consumer
// whose settings would make a promise of the source untrue is refused.
//
// Errors are source.ErrUnavailable if no server answers, source.ErrMisconfigured if login,
// rights, stream or consumer are wrong, the error of ctx, or all faults of the options.
// Later a server may go away and come back: the source then goes on by itself.
func OpenSource(ctx context.Context, o SourceOptions) (*Source, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s := &Source{options: o, js: o.JetStream, confirmations: map[uint64]*confirmation{}}
	if s.js == nil {
		var err error
		if s.js, s.owned, err = connect(ctx, o.URL, o.Login.withDefaults()); err != nil {
			return nil, err
		}
	}
	s.nc = s.js.Conn()
	s.nextSubject = apiPrefix(s.js) + "CONSUMER.MSG.NEXT." + o.Stream + "." + o.Consumer
	s.work, s.pulls = sourcekit.NewAtWork[uint64, string](), newPulls(s.nc)
	s.inbox = &inbox{nc: s.nc, answered: s.answeredCommand, lost: s.lostConnection}
	if err := s.open(ctx); err != nil {
		s.free()
		return nil, err
	}
	c := s.limits
	s.work.AckWait = c.AckWait
	s.features = source.Features{
		Order: o.Order, Places: true, Counts: o.Order == source.OrderNone, Cumulative: o.Order == source.OrderStream,
		AckWait: c.AckWait, MaxUnacked: max(c.MaxAckPending, 0), Binding: broker.BindingNATS,
	}
	return s, nil
}

func (s *Source) open(ctx context.Context) error {
	const doing = "open"
	if err := s.connected(ctx); err != nil {
		return err
	}
	if f := s.inbox.open(ctx); f != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return s.translate(doing, f)
	}
	return s.attach(ctx)
}

// firstConnect is for how long OpenSource waits for a connection of its own. The client
// says why the first attempt failed only with the second.
const firstConnect = 2 * time.Second

// connected waits for the connection, if it is our own, and says why there is none.
func (s *Source) connected(ctx context.Context) error {
	timer := time.NewTimer(firstConnect)
	defer timer.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		known := s.owned == nil || s.owned.get() != nil
		err := s.disconnected("open")
		if err == nil || known {
			return err
		}
		select {
		case <-look.C:
		case <-timer.C:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// apiPrefix is what the subjects of the account's JetStream API begin with.
func apiPrefix(js jetstream.JetStream) string {
	switch o := js.Options(); {
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".") + "."
	}
	return jetstream.DefaultAPIPrefix
}

// free ends what the source opened.
func (s *Source) free() {
	s.pulls.drop()
	s.inbox.close()
	if s.owned != nil {
		s.nc.Close()
	}
}

// ordered says whether the source has an order.
func (s *Source) ordered() bool { return s.options.Order == source.OrderStream }

// partition is the only one: the stream.
func (s *Source) partition() source.Partition { return source.Partition(s.options.Stream) }

// lose ends the assignment: the messages at work are not this source's any more, and what
// has come and was not returned is dropped. The caller holds the lock.
func (s *Source) lose() {
	s.assignment.active = false
	s.pulls.drop()
	if s.work.Begin() && !slices.Contains(s.lost, s.partition()) {
		s.lost = append(s.lost, s.partition())
	}
}

// Features implements source.Source. AckWait and MaxUnacked are those that the consumer
// had when the source was opened.
func (s *Source) Features() source.Features { return s.features }

// Lag implements source.Lagger. It returns one entry, of the whole group. The age needs
// the right to read messages of the stream; without it, it is not known.
func (s *Source) Lag(ctx context.Context) ([]source.Lag, error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	const doing = "ask for the lag of"
	if err := s.disconnected(doing); err != nil {
		return nil, err
	}
	var info *jetstream.ConsumerInfo
	err = s.ask(ctx, doing, func(ctx context.Context) error {
		c, err := s.js.Consumer(ctx, s.options.Stream, s.options.Consumer)
		if err == nil {
			info = c.CachedInfo()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	lag := source.Lag{Partition: s.partition(), Messages: int64(info.NumPending) + int64(info.NumAckPending)}
	if lag.Messages > 0 {
		lag.Age = s.age(ctx, info)
	}
	return []source.Lag{lag}, nil
}

// age is how old the first message behind the ack floor is, negative if it cannot be read.
func (s *Source) age(ctx context.Context, info *jetstream.ConsumerInfo) time.Duration {
	subjects := filters(info.Config)
	if len(subjects) == 0 {
		subjects = []string{">"}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	stream := s.js
	oldest := time.Time{}
	for _, subject := range subjects {
		err := request(ctx, s.nc, isAPI, func(ctx context.Context) error {
			at, err := stream.Stream(ctx, s.options.Stream)
			if err != nil {
				return err
			}
			m, err := at.GetMsg(ctx, info.AckFloor.Stream+1, jetstream.WithGetMsgSubject(subject))
			if err == nil && (oldest.IsZero() || m.Time.Before(oldest)) {
				oldest = m.Time
			}
			return err
		})
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return -1
		}
	}
	if oldest.IsZero() {
		return -1
	}
	return max(time.Since(oldest), 0)
}

// Close implements source.Source. A JetStream of the options stays open.
func (s *Source) Close(ctx context.Context) error {
	return s.life.Close(ctx, func(ctx context.Context) error {
		err := s.giveBack(ctx)
		s.free()
		return err
	})
}

// giveBack gives the group what was not acked.
func (s *Source) giveBack(ctx context.Context) error {
	const doing = "close"
	s.mu.Lock()
	pin := s.assignment.pin
	s.mu.Unlock()
	if s.ordered() && pin == "" {
		return nil // nothing of it is ours
	}
	if !s.ordered() && !s.pulls.state(time.Now()).ready && len(s.work.All()) == 0 {
		return nil
	}
	late := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("%w; what was at work comes again after %v", err, s.features.AckWait)
	}
	if err := s.disconnected(doing); err != nil {
		return late(err)
	}
	if ctx.Err() != nil {
		return late(context.Cause(ctx))
	}
	if s.ordered() {
		return late(s.leaveAssignment(ctx))
	}
	var commands []command
	for _, a := range s.pulls.drain(ctx) {
		commands = append(commands, command{a.msg.Reply, ackBack})
	}
	for _, d := range s.work.All() {
		commands = append(commands, command{d.Data, ackBack})
	}
	return late(s.confirm(ctx, doing, commands))
}
