package console

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/operations"
)

// chartSpan is a time that charts show.
type chartSpan struct {
	name, words string
	long        time.Duration
}

// lastHour is that of the console's own samples. The others come from Prometheus.
var (
	lastHour = chartSpan{"1h", "hour", samplesFor}
	spans    = []chartSpan{{"1h", "hour", time.Hour}, {"6h", "6 hours", 6 * time.Hour}, {"1d", "day", 24 * time.Hour}, {"7d", "7 days", 7 * 24 * time.Hour}}
)

// shortest are the times that the console's own charts show until an hour is full: a line that begins at the right edge tells nothing.
var shortest = []chartSpan{{"1m", "minute", time.Minute}, {"5m", "5 minutes", 5 * time.Minute}, {"15m", "15 minutes", 15 * time.Minute}, {"30m", "30 minutes", 30 * time.Minute}}

// shownSpan is the shortest of these times that has all samples, the oldest of which comes first.
func shownSpan(all []Sample, now time.Time) chartSpan {
	for _, span := range shortest {
		if len(all) > 0 && now.Sub(all[0].At) <= span.long {
			return span
		}
	}
	return lastHour
}

// Charts are those of a box, or of the boxes of a database that the one who looks may see. Nil: there are none to show.
func (s *sheet) Charts(database, box string) *charts {
	var v *charts
	for _, d := range s.console.databases {
		if d.name == database {
			v = s.draw(d, box)
		}
	}
	if v == nil {
		return nil
	}
	v.ID = "values"
	path := []string{"api", "v1", "databases", database, "boxes", box, "samples"}
	if box == "" {
		v.ID, path = "values-"+database, []string{"api", "v1", "databases", database, "samples"}
	}
	if box != "" || s.Sees(database) {
		v.JSON = s.To(path...) + query([]string{"range", s.Get("range")})
	}
	if s.console.days != nil {
		v.Ranges = append(v.Ranges, chartRange{"Live", s.Same("range", ""), s.Get("range") == ""})
		for _, span := range spans {
			v.Ranges = append(v.Ranges, chartRange{span.name, s.Same("range", span.name), s.Get("range") == span.name})
		}
	}
	return v
}

// draw draws the samples of the time that the page asks for.
func (s *sheet) draw(d *database, box string) *charts {
	over := s.Get("range")
	if over == "" {
		sees := func(name string) bool { return (box == "" || name == box) && s.rights.In(d.name, name) >= Viewer }
		all, now := d.history.of(sees).Samples, time.Now()
		return chartsOf(all, now, shownSpan(all, now))
	}
	all, err := s.ofDays(d, box, over)
	if err != nil {
		return &charts{Error: s.console.words(err.Error())}
	}
	span := spans[slices.IndexFunc(spans, func(one chartSpan) bool { return one.name == over })]
	if v := chartsOf(all, time.Now(), span); v != nil {
		return v
	}
	return &charts{Error: "Prometheus has nothing of this time."}
}

// chartBoxes are those that charts are made of. Nil: all.
func (s *sheet) chartBoxes(d *database, box string) []string {
	if box != "" {
		return []string{box}
	}
	if s.Sees(d.name) {
		return nil
	}
	boxes := []string{}
	if now, _ := d.last(); now != nil { // the page was made of it
		for i := range now.Boxes {
			if s.rights.In(d.name, now.Boxes[i].Name) >= Viewer {
				boxes = append(boxes, now.Boxes[i].Name)
			}
		}
	}
	return boxes
}

// shownDays is what Prometheus says of one database.
type shownDays struct {
	samples []Sample
	err     error
}

// ofDays asks Prometheus for a box, or for all boxes of a database. A page of many databases asks for all of them at its first chart.
func (s *sheet) ofDays(d *database, box, over string) ([]Sample, error) {
	if s.Database != "" {
		return s.console.days.samples(s.ctx, d.name, s.chartBoxes(d, box), over)
	}
	if s.days == nil {
		s.days = s.allDays(over)
	}
	v := s.days[d.name]
	return v.samples, v.err
}

// allDays asks for all databases side by side, within the time of one: a slow Prometheus holds a page up once.
func (s *sheet) allDays(over string) map[string]shownDays {
	ctx, cancel := context.WithTimeout(s.ctx, daysFor)
	defer cancel()
	found := make([]shownDays, len(s.console.databases))
	var all sync.WaitGroup
	for i, d := range s.console.databases {
		all.Go(func() {
			defer func() {
				if mistake := recover(); mistake != nil {
					found[i].err = mistakeError(mistake)
				}
			}()
			found[i].samples, found[i].err = s.console.days.samples(ctx, d.name, s.chartBoxes(d, ""), over)
		})
	}
	all.Wait()
	out := make(map[string]shownDays, len(found))
	for i, d := range s.console.databases {
		out[d.name] = found[i]
	}
	return out
}

// BadFor says for how long a box has needed a look, as far as the samples know. Empty: they do not know.
func (s *sheet) BadFor(database, box string) string {
	for _, d := range s.console.databases {
		if d.name != database {
			continue
		}
		at, longer := d.history.since(box)
		switch {
		case at.IsZero():
			return ""
		case longer:
			return "for " + operations.Span(max(time.Since(at), time.Second)) + " or longer"
		}
		return "for " + operations.Span(max(time.Since(at), time.Second))
	}
	return ""
}
