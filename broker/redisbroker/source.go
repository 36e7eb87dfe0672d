package redisbroker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Source takes messages from streams as one consumer of a group. Make it with OpenSource.
// It is safe for concurrent use; one goroutine fetches.
type Source struct {
	options  SourceOptions
	streams  []sourceStream
	client   redis.UniversalClient
	owned    bool
	together bool          // one command can name all streams
	at       string        // where the client connects to
	consumer string        // this source's name in the group
	longest  time.Duration // for how long a read waits at the server

	life    sourcekit.Life
	work    *atWork
	deleted atomic.Int64

	ctx     context.Context //nolint:containedctx // of steps, which outlive the Fetch that began them; ends when Close is over
	stop    context.CancelFunc
	running sync.WaitGroup // of holdOn

	// Of the step under way.
	opened    bool           // the groups were there once
	attached  bool           // they were when it was looked last
	misses    int            // how often in a row they were gone
	known     []string       // how far the group got in each stream, as far as is known
	history   map[int]string // streams whose history is to be read, from ids on
	cursors   []string       // of scans
	nextScan  time.Time
	scanEvery time.Duration
	rest      time.Time // when to read next
	usual     int       // how large entries are
	active    int       // of how many streams they came

	mu      sync.Mutex
	under   *step
	queue   []arrived
	queued  map[spot]bool      // what is in the queue
	lost    []source.Partition // what the next Fetch says
	held    []held
	holding bool // holdOn runs
}

var (
	_ source.Source   = (*Source)(nil)
	_ source.Extender = (*Source)(nil)
	_ source.Lagger   = (*Source)(nil)
)

// OpenSource returns a source. It makes the group in streams that do not have it, and the
// streams that do not exist, unless SourceOptions.Existing is set.
//
// Errors are source.ErrUnavailable if no server answers, source.ErrMisconfigured if login,
// rights or streams are wrong, the error of ctx, or all faults of the options. Later a
// server may go away and come back: the source then goes on by itself.
func OpenSource(ctx context.Context, o SourceOptions) (*Source, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	o = o.withDefaults()
	s := &Source{
		options: o, streams: o.streams(), client: o.Client, consumer: o.Consumer, longest: longestWait,
		work: newAtWork(o.AckWait), history: map[int]string{}, queued: map[spot]bool{}, usual: firstUsual, active: 1,
	}
	if s.client == nil {
		servers, err := parse(o.URL)
		if err != nil {
			return nil, err
		}
		s.client, s.owned = redis.NewUniversalClient(clientOptions(servers, o.Login)), true
	}
	s.at, s.together = where(s.client), s.oneNode()
	if s.consumer == "" {
		s.consumer = "postbag-" + rand.Text()
	}
	if read, err := usableClient("OpenSource", s.client); err == nil && read > 0 {
		s.longest = max(min(longestWait, read/3), time.Millisecond)
	}
	s.known, s.cursors = make([]string, len(s.streams)), make([]string, len(s.streams))
	for i := range s.streams {
		s.known[i] = firstCursor
	}
	s.scanEvery = max(min(o.AckWait/4, time.Second), time.Duration(len(s.streams))*time.Millisecond)
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.call(ctx, func(context.Context) error { return s.attach(s.ctx) }); err != nil {
		return nil, errors.Join(s.ended(ctx, "open", err), s.free())
	}
	return s, nil
}

// free ends what the source opened.
func (s *Source) free() error {
	s.stop()
	if s.owned {
		return s.client.Close()
	}
	return nil
}

// Features implements source.Source.
func (s *Source) Features() source.Features {
	return source.Features{Order: source.OrderNone, Places: true, Counts: true, AckWait: s.options.AckWait, Binding: broker.BindingRedis}
}

// Deleted is how many messages were deleted or trimmed before they were acked, as far as
// this source found them: somebody had them, and nobody gets them again.
func (s *Source) Deleted() int64 { return s.deleted.Load() }

// Lag implements source.Lagger. It returns one entry for each stream. How many messages
// there are is not known after some were deleted one by one (XDEL), until the group is
// past them.
func (s *Source) Lag(ctx context.Context) ([]source.Lag, error) {
	done, err := s.life.Call(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	var found []source.Lag
	err = s.call(ctx, func(ctx context.Context) (err error) {
		found, err = s.lag(ctx)
		return err
	})
	if err != nil {
		return nil, s.ended(ctx, "ask for the lag", err)
	}
	return found, nil
}

func (s *Source) lag(ctx context.Context) ([]source.Lag, error) {
	groups, pending := make([]ask, len(s.streams)), make([]ask, len(s.streams))
	for i, of := range s.streams {
		groups[i] = newAsk(ctx, "xinfo", "groups", of.name)
		pending[i] = newAsk(ctx, "xpending", of.name, s.options.Group)
	}
	whole := s.do(ctx, slices.Concat(groups, pending)...)
	all := make([]source.Lag, len(s.streams))
	for i, of := range s.streams {
		group, _, err := s.groupOf(groups[i], whole)
		if err != nil {
			return nil, err
		}
		all[i] = source.Lag{Partition: source.Partition(of.name), Messages: -1, Age: -1}
		if group == nil {
			continue
		}
		last, _ := group["last-delivered-id"].(string)
		atWork, known := number(group["pending"])
		unread, known2 := number(group["lag"])
		if known && known2 {
			all[i].Messages = atWork + unread
		}
		if all[i].Age, err = s.age(ctx, of.name, pending[i], whole, last); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// age is how old the oldest message is that is not acked: at work, or else behind what was
// read last. Zero if there is none.
func (s *Source) age(ctx context.Context, name string, pending ask, whole error, last string) (time.Duration, error) {
	answer, err := pending.answer(whole)
	if err != nil {
		return 0, err
	}
	facts, err := list(answer, 2)
	if err != nil {
		return 0, err
	}
	id, _ := facts[1].(string)
	if id == "" {
		next := newAsk(ctx, "xrange", name, "("+last, "+", "count", 1)
		answer, err := next.answer(s.do(ctx, next))
		if err != nil {
			return 0, err
		}
		reads, err := readItems(answer)
		if err != nil || len(reads) == 0 {
			return 0, err
		}
		id = reads[0].id
	}
	ms, _, _ := numbers(id)
	at, ok := idTime(ms)
	if !ok {
		return -1, nil
	}
	return max(time.Since(at), 0), nil
}

// Close implements source.Source. A client of the options stays open. A consumer with a
// random name is removed from the group.
func (s *Source) Close(ctx context.Context) error {
	return s.life.Close(ctx, func(ctx context.Context) error {
		err := s.leave(ctx)
		if err != nil {
			err = fmt.Errorf("%w; what was at work comes again after %v", err, s.options.AckWait)
		}
		err = errors.Join(err, s.free())
		over := make(chan struct{})
		go func() {
			s.running.Wait() // no longer than a client reads
			close(over)
		}()
		select {
		case <-over:
		case <-ctx.Done():
		}
		return err
	})
}

// leave waits for the step under way, and gives back what was not acked.
func (s *Source) leave(ctx context.Context) error {
	if st := s.current(); st != nil {
		select {
		case <-st.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := s.call(ctx, s.giveBack); err != nil {
		return s.ended(ctx, "close", err)
	}
	return nil
}

// leavePage is how many messages are looked for at a time that are to be given back.
const leavePage = 1000

// giveBack gives the group what this source has: all that is under a random name, which
// nobody else can have, and else what it knows of.
func (s *Source) giveBack(ctx context.Context) error {
	if s.options.Consumer != "" {
		return s.giveBackKnown(ctx)
	}
	for i := range s.streams {
		if err := s.giveBackAll(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// giveBackKnown gives back what is at work, and what waits.
func (s *Source) giveBackKnown(ctx context.Context) error {
	all := make(map[spot]bool)
	for _, d := range s.work.All() {
		all[d.Key] = true
	}
	s.mu.Lock()
	for e := range s.queued {
		all[e] = true
	}
	s.mu.Unlock()
	owned, _, err := s.ownedBy(ctx, s.consumer, slices.Collect(maps.Keys(all)))
	if err != nil {
		return err
	}
	return s.park(ctx, owned, atOnce)
}

// giveBackAll gives back all of a stream that the server has under this source's name, and
// removes the name.
func (s *Source) giveBackAll(ctx context.Context, stream int) error {
	name := s.streams[stream].name
	for {
		page := newAsk(ctx, "xpending", name, s.options.Group, "-", "+", leavePage, s.consumer)
		answer, err := page.answer(s.do(ctx, page))
		if isGone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		found, err := pendingOf(stream, answer)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return s.removeConsumer(ctx, name)
		}
		if err := s.park(ctx, found, atOnce); err != nil {
			return err
		}
	}
}

// pendingOf reads a page of XPENDING.
func pendingOf(stream int, answer any) ([]spot, error) {
	page, err := list(answer, 0)
	if err != nil {
		return nil, err
	}
	all := make([]spot, len(page))
	for k, one := range page {
		facts, err := list(one, 1)
		if err != nil {
			return nil, err
		}
		all[k].stream = stream
		all[k].id, _ = facts[0].(string)
	}
	return all, nil
}

// removeConsumer removes this source's random name from a group: it has nothing any more.
func (s *Source) removeConsumer(ctx context.Context, name string) error {
	remove := newAsk(ctx, "xgroup", "delconsumer", name, s.options.Group, s.consumer)
	_, err := remove.answer(s.do(ctx, remove))
	if isGone(err) || isNoKey(err) || err != nil && isCode(err, "ERR") {
		return nil // the stream is gone, and the name with it
	}
	return err
}
