package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/postbag/postbag/store"
)

// Console is an http.Handler that shows databases. It may be used concurrently.
type Console struct {
	handler http.Handler
	c       *console
}

// ServeHTTP answers a request.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.handler.ServeHTTP(w, r) }

// Run reads the state of each database every Options.Sample until ctx ends. Charts are made of that, and open pages are told of it.
// Without it there are no charts, and open pages ask again every five seconds. With Options.Commands it also works long
// operations: those that were begun or resumed here, and those that nobody works. It returns nil when ctx ends, with nothing
// left behind but requests under way; another process goes on with the operations. Run it once: while it runs, another call
// returns an error.
func (c *Console) Run(ctx context.Context) error {
	return c.c.live.run(ctx, c.c.databases, c.c.workers()...)
}

// gather is how long news of one database waits for those of others.
const gather = 100 * time.Millisecond

// live is what reads databases, and tells streams.
type live struct {
	every time.Duration
	// always: it reads also while nobody has a page open, and keeps samples.
	always bool
	news   chan struct{} // some database was read
	most   int           // streams at a time

	mu      sync.Mutex
	running context.Context //nolint:containedctx // that of Run, which streams end with; nil: it does not run
	// streams counts all, users those of each user, and tails those that follow a list of messages, by its address.
	streams      int
	users, tails map[string]int
	// beat is closed when the next one begins, and frames are what this one says, by the key of streams.
	beat   chan struct{}
	frames map[string]*frame
	// listings are the lists of messages that this beat has asked for.
	listings map[string]*listing
}

func newLive(sample time.Duration, streams int) *live {
	l := &live{
		most: streams, every: sample, always: sample > 0, news: make(chan struct{}, 1),
		users: make(map[string]int), tails: make(map[string]int), beat: make(chan struct{}), frames: make(map[string]*frame), listings: make(map[string]*listing),
	}
	if !l.always {
		l.every = DefaultSample
	}
	return l
}

func (l *live) run(ctx context.Context, databases []*database, beside ...func(context.Context)) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	l.mu.Lock()
	if l.running != nil {
		l.mu.Unlock()
		return errors.New("console: it runs already; call Run once")
	}
	l.running = ctx
	l.mu.Unlock()
	var readers sync.WaitGroup
	for _, d := range databases {
		readers.Go(func() { l.read(ctx, d) })
	}
	readers.Go(func() { l.announce(ctx) })
	for _, do := range beside {
		readers.Go(func() { do(ctx) })
	}
	readers.Wait()
	l.mu.Lock()
	l.running = nil
	l.mu.Unlock()
	return nil
}

// read reads a database again and again.
func (l *live) read(ctx context.Context, d *database) {
	beat := time.NewTicker(l.every)
	defer beat.Stop()
	defer d.unread()
	for {
		if l.always || l.watched() {
			d.sample(ctx, l.always)
			select {
			case l.news <- struct{}{}:
			default: // there is news already
			}
		} else {
			d.unread()
		}
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		}
	}
}

// announce tells streams when there is news: of several databases at once, if they are read at the same time.
func (l *live) announce(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.news:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(gather):
		}
		select {
		case <-l.news:
		default:
		}
		l.tell()
	}
}

// latest is what a reader found last.
type latest struct {
	now, before *store.Overview
	err         error
	at          time.Time
}

// sample reads the database, unless somebody did a moment ago. It keeps a sample of that if it is to.
func (d *database) sample(ctx context.Context, keep bool) {
	now, before, err := d.safely(ctx)
	if ctx.Err() != nil {
		return
	}
	at := time.Now()
	d.mu.Lock()
	d.found = latest{now, before, err, at}
	d.mu.Unlock()
	if err == nil && keep && !d.frozen() {
		d.history.take(now, at)
	}
}

// frozen says whether the latest overview is that of a replica whose primary does not answer: it says nothing of the time since then.
func (d *database) frozen() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seenIn != nil && d.seenIn.replica && d.seenIn.why != ""
}

// unread forgets what the reader found: it does not read at the moment.
func (d *database) unread() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.found = latest{}
}

// reading returns what the reader found, if it reads.
func (d *database) reading() (v latest, is bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.found, !d.found.at.IsZero()
}

// safely is overview, where the mistake of a program is an error.
func (d *database) safely(ctx context.Context) (now, before *store.Overview, err error) {
	defer func() {
		if mistake := recover(); mistake != nil {
			err = mistakeError(mistake)
		}
	}()
	return d.overview(ctx)
}

// mistakeError is the error of a panic.
func mistakeError(mistake any) error {
	return fmt.Errorf("the console, or the store, has a mistake, please report it: %.200v", mistake)
}
