package console

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/internal/operations"
)

const (
	// dots is how many a line of a chart has at most, and rows a table of its values.
	dots, rows = 120, 12
	// chartWide and chartHigh are the size of a chart in its own units. The style sheet says how large it is on a page.
	chartWide, chartHigh = 600, 100
)

// charts are those of a time, as a page shows them.
type charts struct {
	// ID tells those of one page apart. Over is the time in words, and Ago how long ago it began.
	ID, Over, Ago string
	Charts        []chart
	// Rows are the values of a twelfth of the time each, the latest first.
	Rows []chartRow
	// JSON is the address of all samples.
	JSON string
	// Ranges are the other times to choose from; none: there is no Prometheus.
	Ranges []chartRange
	// Error is why there are no charts, although there should be.
	Error string
}

// chartRange is a time to choose. Here: it is the one that is shown.
type chartRange struct {
	Name, At string
	Here     bool
}

// chart is one of them.
type chart struct {
	Name, Over string
	// Top is what its upper edge stands for.
	Top   string
	Lines []chartLine
}

// chartLine is one line of a chart. Path is empty if no value is known.
type chartLine struct {
	Name, Class, Path string
	// Now and Most are the latest value and the highest one, in words.
	Now, Most string
}

// Summary says what the chart shows, to those who do not see it.
func (c chart) Summary() string {
	var all []string
	for _, l := range c.Lines {
		all = append(all, fmt.Sprintf("%s: %s now, at most %s.", l.Name, l.Now, l.Most))
	}
	return c.Name + " in the last " + c.Over + ". " + strings.Join(all, " ")
}

// chartRow is a line of the table.
type chartRow struct {
	At time.Time
	// Cells are in the sequence of all lines.
	Cells []string
}

// measure is what a line shows of samples.
type measure struct {
	name, class string
	of          func(*Sample) *float64
	// mean: what stands for several samples is their mean, and else the highest.
	mean bool
	text func(float64) string
}

// measured are all lines of all charts.
var measured = []struct {
	name  string
	lines []measure
}{
	{"Messages a second", []measure{
		{"Published", "in", func(s *Sample) *float64 { return s.Published }, true, perSecond},
		{"Delivered", "out", func(s *Sample) *float64 { return s.Delivered }, true, perSecond},
	}},
	{"Waiting", []measure{{"Messages", "waits", func(s *Sample) *float64 { return s.Waiting }, false, whole}}},
	{"Oldest undelivered", []measure{{"Age", "age", func(s *Sample) *float64 { return s.Oldest }, false, age}}},
	{"Parked", []measure{
		{"Dead", "dead", func(s *Sample) *float64 { return s.Dead }, false, whole},
		{"Others", "parked", func(s *Sample) *float64 { return s.Parked }, false, whole},
	}},
	{latency, []measure{
		{"p50", "out", func(s *Sample) *float64 { return s.Half }, false, took},
		{"p99", "age", func(s *Sample) *float64 { return s.Most }, false, took},
	}},
}

// latency is the chart that only Prometheus has.
const latency = "Time to delivery"

func perSecond(v float64) string { return rateText(&v) }
func whole(v float64) string     { return countText(int64(v)) }

func age(v float64) string {
	if v <= 0 {
		return "none"
	}
	return operations.Span(operations.Seconds(v))
}

func took(v float64) string {
	if v <= 0 {
		return "0"
	}
	return operations.Span(operations.Seconds(v))
}

// shownCharts are the charts that samples have values for.
func shownCharts(all []Sample) (names []string) {
	for _, m := range measured {
		if m.name != latency || slices.ContainsFunc(all, func(s Sample) bool { return s.Half != nil || s.Most != nil }) {
			names = append(names, m.name)
		}
	}
	return names
}

// chartsOf draws samples of a time before a moment. Nil: there are none.
func chartsOf(all []Sample, now time.Time, span chartSpan) *charts {
	if len(all) == 0 {
		return nil
	}
	v, names := &charts{Over: span.words, Ago: span.name}, shownCharts(all)
	for _, m := range measured {
		if !slices.Contains(names, m.name) {
			continue
		}
		c := chart{Name: m.name, Over: span.words}
		lines, top := make([][]float64, len(m.lines)), 0.0
		for i := range m.lines {
			lines[i] = m.lines[i].over(all, now, span.long, dots)
			top = max(top, highest(lines[i]))
		}
		if top <= 0 || top < 1 && m.name != latency {
			top = 1
		}
		top = even(top)
		for i := range m.lines {
			c.Lines = append(c.Lines, m.lines[i].line(all, lines[i], top, between(all, span.long/dots)))
		}
		c.Top = m.lines[0].text(top)
		v.Charts = append(v.Charts, c)
	}
	v.Rows = rowsOf(all, names, now, span.long)
	return v
}

// over divides the time before now into parts, and returns what each has; NaN: nothing. The parts begin at whole multiples of their
// length, so a line moves by whole parts.
func (m *measure) over(all []Sample, now time.Time, span time.Duration, parts int) []float64 {
	long := span / time.Duration(parts)
	begin := partBegin(now, long).Add(-span + long)
	values, counts := make([]float64, parts), make([]float64, parts)
	for i := range values {
		values[i] = math.NaN()
	}
	for i := range all {
		at, v := int(all[i].At.Sub(begin)/long), m.of(&all[i])
		if all[i].At.Before(begin) || at >= parts || v == nil {
			continue
		}
		switch counts[at]++; {
		case counts[at] == 1:
			values[at] = *v
		case m.mean:
			values[at] += (*v - values[at]) / counts[at]
		default:
			values[at] = max(values[at], *v)
		}
	}
	return values
}

func partBegin(at time.Time, long time.Duration) time.Time { return at.Round(0).Truncate(long) }

func highest(values []float64) (most float64) {
	for _, v := range values {
		if v > most { // NaN is not
			most = v
		}
	}
	return most
}

// even is the least of 1, 2, 5, 10, 20 and so on that is not below a value.
func even(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= v {
			return n * unit
		}
	}
	return 10 * unit
}

// between is how many parts of a line lie between two samples that follow each other, at most. A young chart shows a minute, in which
// parts are shorter than the time from one sample to the next: that is no gap.
func between(all []Sample, part time.Duration) int {
	if len(all) < 2 {
		return 0
	}
	times := make([]time.Duration, len(all)-1)
	for i := range times {
		times[i] = all[i+1].At.Sub(all[i].At)
	}
	slices.Sort(times)
	return int(times[len(times)/2] * 3 / 2 / part)
}

// line draws values below a top.
func (m *measure) line(all []Sample, values []float64, top float64, between int) chartLine {
	l := chartLine{Name: m.name, Class: m.class, Path: drawn(values, top, between), Now: "–"}
	most := 0.0
	for i := range all {
		if v := m.of(&all[i]); v != nil {
			most = max(most, *v)
		}
	}
	l.Most = m.text(most)
	if v := m.of(&all[len(all)-1]); v != nil {
		l.Now = m.text(*v)
	}
	return l
}

// drawn is the form of a line. Where more values are not known than lie between two samples, it has a gap.
func drawn(values []float64, top float64, between int) string {
	var out strings.Builder
	last := -1 // the value before that is known
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		x := strconv.FormatFloat(float64(i)*chartWide/float64(len(values)-1), 'f', 1, 64)
		y := strconv.FormatFloat(chartHigh*(1-min(v/top, 1)), 'f', 1, 64)
		if last >= 0 && i-last-1 <= between {
			out.WriteString("L" + x + " " + y)
		} else {
			out.WriteString("M" + x + " " + y + "h0") // h0 makes a dot of one that stands alone
		}
		last = i
	}
	return out.String()
}

func rowsOf(all []Sample, names []string, now time.Time, span time.Duration) []chartRow {
	long := span / rows
	out := make([]chartRow, rows)
	for i := range out {
		out[i].At = partBegin(now, long).Add(-time.Duration(i) * long)
	}
	for _, c := range measured {
		if !slices.Contains(names, c.name) {
			continue
		}
		for i := range c.lines {
			m := &c.lines[i]
			for j, v := range m.over(all, now, span, rows) {
				text := "–"
				if !math.IsNaN(v) {
					text = m.text(v)
				}
				row := &out[rows-1-j]
				row.Cells = append(row.Cells, text)
			}
		}
	}
	return out
}
