package duration

import (
	"math"
	"testing"
	"time"
)

func TestDurationsAreReadInGosFormInDaysAndInISO8601s(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"15s": 15 * time.Second, "1h30m": 90 * time.Minute, "0s": 0, "1.5h": 90 * time.Minute, "-1s": -time.Second,
		"3d": 72 * time.Hour, "2w": 14 * day, "1w2d": 9 * day, "1d12h": 36 * time.Hour, "0.5d": 12 * time.Hour, "1d1.5s": day + 1500*time.Millisecond,
		"P3D": 72 * time.Hour, "P1W": 7 * day, "P1W1D": 8 * day, "PT90S": 90 * time.Second, "PT1H30M": 90 * time.Minute,
		"P1DT12H": 36 * time.Hour, "PT0.5S": 500 * time.Millisecond, "PT1,5M": 90 * time.Second, "P0D": 0,
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
}

func TestInvalidDurationsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "5", "d", "w", "1x", "3 d", "1d 2h", "1d-2h", "1d+2h", "-3d", "1h1d", "1d1w", "1e3d", ".5d", "1dd", "1..5d", "3D",
		"P", "PT", "P1", "P1Y", "P1M", "P1H", "PT1D", "P1DT", "PT1S1H", "PT1.5H30M", "P-1D", "p1d", "P1D ", "P1e3D",
		"99999999999d", "P99999999999W", "200w99999999h", "106751d23h59m", "9e99d",
	} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q was taken for %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1w2d3h", "P1W2DT3H4M5.6S", "1d", "-1s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		if d < 0 && text[0] != '-' || d == math.MinInt64 && text[0] != '-' {
			t.Errorf("%q is %v", text, d)
		}
		if again, err := Parse(d.String()); err != nil || again != d {
			t.Errorf("%q is %v, which is read as %v (%v)", text, d, again, err)
		}
	})
}

func TestADurationFlagIsSetAndPrinted(t *testing.T) {
	t.Parallel()
	d := 2 * time.Second
	v := Flag(&d)
	if v.String() != "2s" || v.Type() != "duration" {
		t.Errorf("the flag is %s of type %s", v, v.Type())
	}
	if err := v.Set("P1D"); err != nil || d != day {
		t.Errorf("after P1D it is %v (%v)", d, err)
	}
	if err := v.Set("soon"); err == nil || d != day {
		t.Errorf("after a text that is none it is %v (%v)", d, err)
	}
}
