package chaos_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/chaos"
)

func TestThePlotShowsEachFault(t *testing.T) {
	t.Parallel()
	r := &chaos.Report{Pair: "a-b", Versions: []string{"A <1>", "B"}, For: 8 * time.Hour}
	for i := range 60_000 {
		r.Samples = append(r.Samples, chaos.Sample{At: time.Duration(i+1) * chaos.SampleEvery, Committed: i % 500, Arrived: i % 300, Backlog: i % 7000})
	}
	for i := range 100 {
		r.Faults = append(r.Faults, chaos.Strikes{Fault: "a <fault>", Room: chaos.Brokers, At: time.Duration(i) * time.Minute, For: time.Second})
	}
	var b strings.Builder
	if err := r.Plot(&b); err != nil {
		t.Fatal(err)
	}
	if len(b.String()) > 300_000 {
		t.Errorf("the plot of a night has %d bytes", len(b.String()))
	}
	count := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the plot is no XML: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
	if count["title"] != 100 || count["polyline"] != 3 {
		t.Errorf("it has %v", count)
	}
	for _, want := range []string{">8 h<", ">faults end<", ">100</text>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks %s", want)
		}
	}
}

func TestAnEmptyPlotIsValidSVG(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := (&chaos.Report{}).Plot(&b); err != nil || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Errorf("%v: %s", err, b.String())
	}
}
