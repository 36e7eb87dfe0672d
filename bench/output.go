package main

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// write writes all results as JSON and each as a chart, and prints the verdicts.
func write(dir string, all []result, l *testbed) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	report := struct {
		At       time.Time `json:"at"`
		Go       string    `json:"go"`
		CPUs     int       `json:"cpus"`
		Postgres string    `json:"postgres"`
		Rounds   int       `json:"rounds"`
		Results  []result  `json:"results"`
	}{time.Now().UTC(), runtime.Version(), runtime.NumCPU(), l.pg.Version(), l.settings.rounds, all}
	b, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "results.json"), b, 0o644); err != nil { //nolint:gosec // for everyone to read
		return err
	}
	fmt.Println("\nverdicts:")
	for i := range all {
		r := &all[i]
		if err := os.WriteFile(filepath.Join(dir, r.Name+".svg"), []byte(r.chart()), 0o644); err != nil { //nolint:gosec // the same
			return err
		}
		verdict := "reached"
		if !r.Reached {
			verdict = "NOT REACHED"
		}
		fmt.Printf("  %-22s %-46s %8.3g  %s\n", r.Name, r.Goal, r.Value, verdict)
	}
	return nil
}

// chart draws the medians of a scenario's ways as bars, with a dot a sample.
func (r *result) chart() string {
	const left, width, row = 190, 520, 34
	most := 0.0
	for _, samples := range r.Samples {
		for _, s := range samples {
			most = max(most, s.Value)
		}
	}
	most = max(most, 1e-9)
	height := 70 + row*len(r.Ways)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">`, left+width+110, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/><text x="12" y="24" font-weight="bold">%s</text>`, html.EscapeString(r.What))
	for i, name := range r.Ways {
		y := 46 + row*i
		v := r.median(name, value)
		fmt.Fprintf(&b, `<text x="12" y="%d">%s</text><rect x="%d" y="%d" width="%.1f" height="18" fill="#3b82c4"/>`,
			y+14, html.EscapeString(name), left, y, v/most*width)
		for _, s := range r.Samples[name] {
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%d" r="3" fill="#16324f"/>`, left+s.Value/most*width, y+9)
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%.4g</text>`, left+v/most*width+8, y+14, v)
	}
	fmt.Fprintf(&b, `<text x="12" y="%d" fill="#555">goal: %s: %.3g</text></svg>`, height-10, html.EscapeString(r.Goal), r.Value)
	return b.String()
}
