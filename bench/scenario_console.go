package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/postbag/postbag"
)

// What is written while people look: so many messages a second, ten a transaction, by eight producers.
const (
	shownRate   = 3000
	shownPerTx  = 10
	shownTx     = 8
	firstByteMs = 100.0
)

// consoleScenario is the work of producers and relays beside a console that 20 people look at, and without.
func consoleScenario(kind, what string, messages int, open openShown) scenario {
	c := &consoleMeasure{kind: kind, messages: messages, open: open}
	return scenario{
		name: "15-console-" + kind, what: what + ": 3,000 messages/s delivered to three subscriptions, beside a console with 20 people", long: true,
		goal: goal{text: "pages ≤ 100 ms, producers ≤ 1.05 ×, rate ≥ 0.95 ×; the worst", reach: c.reach},
		ways: []way{{"without", c.without}, {"console", c.with}},
		done: c.close, more: c.pages,
	}
}

// consoleMeasure is the store of such a scenario, which all its samples share.
type consoleMeasure struct {
	kind     string
	messages int
	open     openShown

	shown  *shown
	remove func() error
	looks  []look
}

// opened returns the store, filled.
func (c *consoleMeasure) opened(ctx context.Context, l *testbed) (*shown, error) {
	if c.shown != nil {
		return c.shown, nil
	}
	if l.settings.messages > 0 {
		c.messages = l.settings.messages
	}
	folder, remove, err := l.shownFolder(c.kind)
	if err != nil {
		return nil, err
	}
	c.remove = remove
	if c.shown, err = c.open(ctx, folder); err != nil {
		return nil, errors.Join(err, remove())
	}
	return c.shown, c.shown.fill(ctx, c.messages)
}

func (c *consoleMeasure) close(ctx context.Context) error {
	if c.shown == nil {
		return nil
	}
	return errors.Join(c.shown.close(ctx), c.remove())
}

func (c *consoleMeasure) without(ctx context.Context, l *testbed) (sample, error) {
	s, err := c.opened(ctx, l)
	if err != nil {
		return sample{}, err
	}
	return s.load(ctx, l.settings.span, nil)
}

func (c *consoleMeasure) with(ctx context.Context, l *testbed) (sample, error) {
	s, err := c.opened(ctx, l)
	if err != nil {
		return sample{}, err
	}
	p, err := l.startConsole(ctx, s)
	if err != nil {
		return sample{}, err
	}
	w, err := newWalk(ctx, p.url, s.filledWith().Messages)
	if err != nil {
		return sample{}, errors.Join(err, p.stop())
	}
	before := p.cpu()
	v, err := s.load(ctx, l.settings.span, w)
	if err == nil && len(w.looks) == 0 {
		err = fmt.Errorf("nobody looked at a page in %v; choose a longer -span, such as 1m", l.settings.span)
	}
	if err == nil {
		v.Extra["console core %"] = 100 * (p.cpu() - before).Seconds() / l.settings.span.Seconds()
		v.Extra["pages"], v.Extra["events"] = float64(len(w.looks)), float64(w.events.Load())
		v.Pages = timesOf(w.looks)
		v.Extra["worst page's p99 ms"] = v.Pages[0].P99
		for i := range v.Pages {
			v.Extra["errors"] += float64(v.Pages[i].Errors)
		}
		c.looks = append(c.looks, w.looks...)
	}
	return v, errors.Join(err, p.stop())
}

// pages are those of all samples together.
func (c *consoleMeasure) pages() []pageTimes { return timesOf(c.looks) }

// reach returns the worst of what was measured, as a share of what it may be.
func (c *consoleMeasure) reach(r *result) (float64, bool) {
	worst := r.median("console", extra("commit p99 ms")) / (1.05 * r.median("without", extra("commit p99 ms")))
	worst = max(worst, 0.95*r.median("without", value)/r.median("console", value))
	for _, p := range c.pages() {
		worst = max(worst, p.P99/firstByteMs)
		if p.Errors > 0 {
			return worst, false
		}
	}
	return worst, worst <= 1
}

// load has producers and a relay work for a while, and people look meanwhile, if there is a walk. The value is messages delivered a
// second, to all subscriptions.
func (s *shown) load(ctx context.Context, span time.Duration, people *walk) (v sample, err error) {
	to := &loaded{}
	stop, err := s.relay(ctx, shownSubscriptions(to, shownReaders...))
	if err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if _, err := s.produce(ctx, 3*time.Second); err != nil { // all is warm then
		return sample{}, err
	}
	if err := s.passed(ctx, shownReaders); err != nil {
		return sample{}, err
	}
	var looking sync.WaitGroup
	before, server, client, begun := to.n.Load(), s.serverCPU(), clientCPU(), time.Now()
	if people != nil {
		looking.Go(func() { people.view(ctx, span) })
	}
	took, err := s.produce(ctx, span)
	looking.Wait()
	if err != nil {
		return sample{}, err
	}
	server, client = s.serverCPU()-server, clientCPU()-client
	for want := before + int64(len(took)*shownPerTx*len(shownReaders)); to.n.Load() < want && ctx.Err() == nil; {
		time.Sleep(time.Millisecond)
	}
	n := float64(to.n.Load() - before)
	v = sample{Value: n / time.Since(begun).Seconds(), ServerCPU: float64(server.Microseconds()) / n, ClientCPU: float64(client.Microseconds()) / n}
	v.Extra = map[string]float64{"commit p50 ms": quantile(took, 0.5), "commit p99 ms": quantile(took, 0.99), "written/s": n / float64(len(shownReaders)) / span.Seconds()}
	return v, ctx.Err()
}

// produce has producers commit at a steady rate for a while, and returns how long each commit took, in milliseconds, from when it
// was due.
func (s *shown) produce(ctx context.Context, span time.Duration) (took []float64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	const every = time.Second * shownTx * shownPerTx / shownRate
	var all sync.WaitGroup
	var mu sync.Mutex
	begun := time.Now()
	for i := range shownTx {
		all.Go(func() {
			var own []float64
			for at := begun.Add(every * time.Duration(i) / shownTx); at.Sub(begun) < span && ctx.Err() == nil; at = at.Add(every) {
				time.Sleep(time.Until(at))
				msgs := make([]postbag.Message, shownPerTx)
				for k := range msgs {
					msgs[k] = newMessage((len(own)*shownTx+i)*shownPerTx + k)
				}
				if err := s.append(ctx, msgs); err != nil {
					cancel(fmt.Errorf("a producer: %w", err))
					return
				}
				own = append(own, time.Since(at).Seconds()*1000)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	all.Wait()
	return took, context.Cause(ctx)
}
