package prompostbag

import (
	"context"
	"sync"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store"
)

// answers are what a scrape was told.
type answers struct {
	sources   []SourceStats
	consumers []ConsumerStats
	lags      [][]source.Lag // of the sources, then of the consumers; nil: it did not answer, or does not know
	overview  store.Overview
	err       error // of the store
}

// ask asks the store and all sources at once, in one time for all: what does not answer takes nothing from the others.
func (c *Collector) ask() (a answers) {
	ctx, cancel := context.WithTimeout(context.Background(), c.options.Timeout)
	defer cancel()
	var from []source.Source
	if c.options.Sources != nil {
		a.sources = c.options.Sources()
	}
	for i := range a.sources {
		from = append(from, a.sources[i].From)
	}
	if c.options.Consumers != nil {
		a.consumers = c.options.Consumers()
	}
	for i := range a.consumers {
		from = append(from, a.consumers[i].From)
	}
	var asked sync.WaitGroup
	if c.options.Store != nil {
		asked.Go(func() { a.overview, a.err = c.overview(ctx) })
	}
	a.lags = make([][]source.Lag, len(from))
	for i := range from {
		asked.Go(func() { a.lags[i] = lag(ctx, from[i]) })
	}
	asked.Wait()
	return a
}

// lag asks a source how far it is behind. Nil: it cannot tell.
func lag(ctx context.Context, from source.Source) []source.Lag {
	lagger, can := from.(source.Lagger)
	if !can {
		return nil
	}
	all, err := lagger.Lag(ctx)
	if err != nil {
		return nil
	}
	return append([]source.Lag{}, all...) // not nil: it has answered
}
