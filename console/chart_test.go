package console

import (
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 31, 12, 0, 7, 0, time.UTC)

// hour are samples of the hour before noon. What is skipped is not there.
func hour(of func(i int, s *Sample), skip func(i int) bool) (all []Sample) {
	for i := range 720 {
		if skip != nil && skip(i) {
			continue
		}
		s := Sample{At: noon.Add(-time.Hour + time.Duration(i+1)*DefaultSample)}
		of(i, &s)
		all = append(all, s)
	}
	return all
}

func TestAChartShowsMeansOfRatesAndThePeaksOfCounts(t *testing.T) {
	t.Parallel()
	all := hour(func(i int, s *Sample) {
		rate := float64(i % 2 * 10)
		s.Published, s.Waiting = &rate, counted(int64(i%6))
	}, nil)
	v := chartsOf(all, noon, lastHour)
	for _, dot := range measured[0].lines[0].over(all, noon, samplesFor, dots)[1:119] {
		if dot != 5 {
			t.Fatalf("of 0 and 10 a second a dot is %v", dot)
		}
	}
	if top := v.Charts[1].Top; top != "5" {
		t.Errorf("of at most 5 that wait the top is %s", top)
	}
	if got := v.Charts[0].Lines[0].Now; got != "10.0/s" {
		t.Errorf("the latest is %s", got)
	}
	if got := v.Charts[0].Summary(); got != "Messages a second in the last hour. Published: 10.0/s now, at most 10.0/s. Delivered: – now, at most 0.0/s." {
		t.Errorf("it is described as %q", got)
	}
	if v.Charts[0].Lines[1].Path != "" {
		t.Errorf("what is not known is drawn as %s", v.Charts[0].Lines[1].Path)
	}
}

func TestWhereADatabaseWasAwayALineHasAGap(t *testing.T) {
	t.Parallel()
	v := chartsOf(hour(func(_ int, s *Sample) { s.Waiting = counted(1) }, func(i int) bool { return i >= 350 && i < 420 }), noon, lastHour)
	line := v.Charts[1].Lines[0].Path
	if strings.Count(line, "M") != 2 || strings.Count(line, "L") < 100 {
		t.Errorf("the line is %s", line)
	}
	if len(v.Rows) != 12 || v.Rows[6].Cells[2] != "–" || v.Rows[0].Cells[2] != "1" {
		t.Errorf("the table is %v", v.Rows)
	}
	alone := chartsOf([]Sample{{At: noon, Waiting: counted(3)}}, noon, lastHour).Charts[1].Lines[0].Path
	if alone != "M600.0 40.0h0" {
		t.Errorf("one sample is drawn as %s", alone)
	}
}

func TestAChartOfAnIdleHourIsAFlatLineAndASampleOfTheDayBeforeIsNotOnIt(t *testing.T) {
	t.Parallel()
	all := append([]Sample{{At: noon.Add(-24 * time.Hour), Waiting: counted(99)}}, hour(func(_ int, s *Sample) { s.Waiting = counted(0) }, nil)...)
	for _, c := range chartsOf(all, noon, lastHour).Charts {
		for _, l := range c.Lines {
			if l.Path != "" && (!strings.HasPrefix(l.Path, "M0.0 100.0h0L") || strings.Contains(strings.ReplaceAll(l.Path, " 100.0", ""), " ")) {
				t.Errorf("%s, %s is %s", c.Name, l.Name, l.Path)
			}
		}
	}
	if chartsOf(nil, noon, lastHour) != nil {
		t.Error("without samples there are charts")
	}
}

func TestTheTopOfAChartIsAnEvenNumber(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]float64{1: 1, 1.1: 2, 3: 5, 5: 5, 7: 10, 10: 10, 11: 20, 499: 500, 1e9 + 1: 2e9} {
		if got := even(v); got != want {
			t.Errorf("over %v it is %v, want %v", v, got, want)
		}
	}
}

func TestChartsShowTheTimeThatThereAreSamplesOf(t *testing.T) {
	t.Parallel()
	for ago, want := range map[time.Duration]string{
		0: "minute", time.Minute: "minute", 61 * time.Second: "5 minutes", 6 * time.Minute: "15 minutes", 16 * time.Minute: "30 minutes", 31 * time.Minute: "hour", 2 * time.Hour: "hour",
	} {
		if got := shownSpan([]Sample{{At: noon.Add(-ago)}, {At: noon}}, noon); got.words != want {
			t.Errorf("with samples of %v they show the last %s, want %s", ago, got.words, want)
		}
	}
	if got := shownSpan(nil, noon); got != lastHour {
		t.Errorf("without samples they show the last %s", got.words)
	}
}

func TestTheLineOfAYoungChartGoesFromSampleToSample(t *testing.T) {
	t.Parallel()
	var all []Sample
	for ago := time.Minute; ago >= 0; ago -= 5 * time.Second {
		if ago > 25*time.Second || ago < 15*time.Second { // it was away for a while
			all = append(all, Sample{At: noon.Add(-ago), Waiting: counted(1)})
		}
	}
	line := chartsOf(all, noon, shownSpan(all, noon)).Charts[1].Lines[0].Path
	if strings.Count(line, "M") != 2 || strings.Count(line, "L") != 7 {
		t.Errorf("the line is %s", line)
	}
}
