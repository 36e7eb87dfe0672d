package chaos

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The picture is about 1,100 by 600 units. Time runs to the right; throughput is above, backlog below it, and under both each
// room has a row with a bar for each fault, with its number in the text of the report.
const (
	plotLeft, plotRight = 120, 1110
	rateTop, rateBottom = 96, 270
	backTop, backBottom = 310, 435
	rowsTop, rowHeight  = 455, 26
	digitWidth          = 5.5
	mostPoints          = 1500
)

//go:embed plot.svg
var plotText string

var plotTemplate = template.Must(template.New("plot").Parse(plotText))

// picture is what the template draws.
type picture struct {
	Title, Subtitle                string
	Verdict, VerdictColor          string
	Width, Height, Left, Right     int
	RateTop, BackTop, Shaded       int
	Bottom                         int
	Over                           float64 // where the faults end
	Committed, Arrived, Backlog    string  // points of lines
	RateTicks, BackTicks, TimeAxis []tick
	Rows                           []plotRow
	Marks                          []bar
}

type tick struct {
	At    float64
	Label string
}

type plotRow struct {
	Room  Room
	Y     float64
	Color string
}

type bar struct {
	X, Y, Width, Height float64
	Color, Title        string
	Number              int
	Shade               float64 // of its time behind the lines
	Label               label
	row                 int
}

// label is a bar's number where there is room for it; else its Text is empty.
type label struct {
	X, Y        float64
	Text, Color string
}

// rowColors tell rooms apart, also for those who do not see all colours.
var rowColors = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000"}

// Plot writes throughput and backlog over time, with the faults marked, as SVG.
func (r *Report) Plot(w io.Writer) error {
	samples := downsample(r.Samples)
	length := r.For
	if n := len(samples); n > 0 {
		length = max(length, samples[n-1].At)
	}
	x := func(at time.Duration) float64 {
		return plotLeft + float64(plotRight-plotLeft)*float64(min(max(at, 0), length))/float64(max(length, 1))
	}
	p := picture{
		Title:    fmt.Sprintf("%s: %s committed, %d deliveries, %s", r.Pair, count(r.Load.Committed, "message"), r.Load.Arrived, count(len(r.Faults), "fault")),
		Subtitle: fmt.Sprintf("%s, seed %d, faults for %v", strings.Join(r.Versions, " to "), r.Seed, r.For),
		Width:    plotRight + 30, Left: plotLeft, Right: plotRight, RateTop: rateTop, BackTop: backTop, Shaded: backBottom - rateTop,
		Over: x(r.For), VerdictColor: "#333",
	}
	if r.History != nil {
		p.Verdict = "promises: " + r.History.Summary()
	}
	if !r.OK {
		p.VerdictColor = "#c00"
	}
	p.lines(samples, x)
	p.addRows(r.Faults, x)
	p.Bottom = rowsTop + rowHeight*len(p.Rows)
	p.Height = p.Bottom + 44
	unit, name := time.Second, "s"
	switch {
	case length >= 4*time.Hour:
		unit, name = time.Hour, "h"
	case length >= 4*time.Minute:
		unit, name = time.Minute, "min"
	}
	for _, at := range steps(float64(length) / float64(unit)) {
		p.TimeAxis = append(p.TimeAxis, tick{x(time.Duration(at * float64(unit))), fmt.Sprintf("%g %s", at, name)})
	}
	return plotTemplate.Execute(w, p)
}

// downsample puts samples together so that a night is drawn as fast as a minute. What is put together keeps its sums, and the highest backlog.
func downsample(all []Sample) []Sample {
	each := (len(all) + mostPoints - 1) / mostPoints
	if each <= 1 {
		return all
	}
	out := make([]Sample, 0, mostPoints)
	for part := range slices.Chunk(all, each) {
		s := Sample{At: part[len(part)-1].At}
		for _, one := range part {
			s.Committed += one.Committed
			s.Arrived += one.Arrived
			s.Backlog = max(s.Backlog, one.Backlog)
		}
		out = append(out, s)
	}
	return out
}

// lines draws the three lines with their scales.
func (p *picture) lines(samples []Sample, x func(time.Duration) float64) {
	committed, arrived, backlog := make([]float64, len(samples)), make([]float64, len(samples)), make([]float64, len(samples))
	before := time.Duration(0)
	for i, s := range samples {
		seconds := (s.At - before).Seconds()
		committed[i], arrived[i], backlog[i] = float64(s.Committed)/seconds, float64(s.Arrived)/seconds, float64(s.Backlog)
		before = s.At
	}
	rate := highest(append(slices.Clone(committed), arrived...))
	points := func(values []float64, most, top, bottom float64) string {
		var b strings.Builder
		for i, v := range values {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(samples[i].At), bottom-(bottom-top)*v/most)
		}
		return b.String()
	}
	ticks := func(most, top, bottom float64) (out []tick) {
		for _, v := range steps(most) {
			out = append(out, tick{bottom - (bottom-top)*v/most, fmt.Sprintf("%g", v)})
		}
		return out
	}
	back := highest(backlog)
	p.Committed, p.Arrived = points(committed, rate, rateTop, rateBottom), points(arrived, rate, rateTop, rateBottom)
	p.Backlog = points(backlog, back, backTop, backBottom)
	p.RateTicks, p.BackTicks = ticks(rate, rateTop, rateBottom), ticks(back, backTop, backBottom)
}

func highest(values []float64) float64 { return slices.Max(append(values, 1)) }

// steps are round numbers from zero to most, five at least and ten at most or so.
func steps(most float64) (out []float64) {
	step := math.Pow(10, math.Floor(math.Log10(max(most, 1))))
	for _, part := range []float64{1, 0.5, 0.2, 0.1} {
		if most/(step*part) >= 4 {
			step *= part
			break
		}
	}
	for v := 0.0; v <= most; v += step {
		out = append(out, v)
	}
	return out
}

// addRows draws a bar for each fault, in the row of its room.
func (p *picture) addRows(faults []Strikes, x func(time.Duration) float64) {
	rooms := map[Room]int{}
	for i, f := range faults {
		n, known := rooms[f.Room]
		if !known {
			n = len(p.Rows)
			rooms[f.Room] = n
			p.Rows = append(p.Rows, plotRow{f.Room, float64(rowsTop + rowHeight*n + rowHeight/2 + 4), rowColors[n%len(rowColors)]})
		}
		left := x(f.At)
		b := bar{
			X: left, Width: max(2, x(f.At+f.For)-left), Y: float64(rowsTop + rowHeight*n + 4), Height: rowHeight - 8,
			Color: rowColors[n%len(rowColors)], Number: i + 1, Shade: 0.13, row: n,
			Title: fmt.Sprintf("from %s, for %s: %s%s", lasted(f.At), lasted(f.For), f.Fault, parenthesis(f.Notes)),
		}
		if f.Throughout { // a line under the others
			b.Y, b.Height, b.Shade = b.Y+b.Height+1, 2, 0
		}
		p.Marks = append(p.Marks, b)
	}
	p.number()
}

// number writes the numbers of the bars in them, or behind them where there is room before the next.
func (p *picture) number() {
	next := make([]float64, len(p.Rows)) // where the bar after it begins
	for i := range next {
		next[i] = float64(p.Width)
	}
	for i := range p.Marks {
		b := &p.Marks[len(p.Marks)-1-i]
		text := strconv.Itoa(b.Number)
		width := digitWidth*float64(len(text)) + 4
		thin := b.Height < rowHeight/2
		switch {
		case b.Width >= width && !thin:
			b.Label = label{X: b.X + 2, Y: b.Y + b.Height - 6, Text: text, Color: "white"}
		case b.X+b.Width+width <= next[b.row]:
			b.Label = label{X: b.X + b.Width + 2, Y: b.Y + max(b.Height-6, 3), Text: text, Color: b.Color}
		}
		if !thin {
			next[b.row] = b.X
		}
	}
}
