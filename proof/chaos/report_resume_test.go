package chaos

import (
	"slices"
	"testing"
	"time"
)

func TestTheReportTellsWhenDeliveriesResumedAfterAFault(t *testing.T) {
	t.Parallel()
	stop := func(from, to float64) Happening {
		return Happening{Fault: "outage", Room: Brokers, From: second(from), To: second(to), Stops: true}
	}
	cut := func(from, to float64) Happening {
		return Happening{Fault: "cut", Room: DatabaseWire, From: second(from), To: second(to)}
	}
	var came arrivals
	for _, at := range []float64{1, 20, 12, 12.001, 13, 90} {
		came.note(second(at))
	}
	if len(came) != 5 {
		t.Errorf("%d times are kept: %v", len(came), came)
	}
	for what, one := range map[string]struct {
		happened []Happening
		want     []time.Duration
	}{
		"one fault":                       {[]Happening{stop(10, 11)}, []time.Duration{time.Second}},
		"a fault that stopped nothing":    {[]Happening{cut(10, 11)}, nil},
		"an end with nothing after it":    {[]Happening{stop(90, 91)}, nil},
		"another one before there is any": {[]Happening{stop(10, 11), stop(11.5, 19)}, []time.Duration{time.Second}},
		"two with deliveries between":     {[]Happening{stop(10, 11), stop(14, 19)}, []time.Duration{time.Second, time.Second}},
		"nothing for too long":            {[]Happening{stop(20, 21)}, []time.Duration{69 * time.Second}},
		"a way that was cut meanwhile":    {[]Happening{stop(20, 21), cut(40, 88)}, []time.Duration{2 * time.Second}},
		"a way that was cut and is not":   {[]Happening{stop(20, 21), cut(30, 31)}, []time.Duration{59 * time.Second}},
	} {
		var got []time.Duration
		for _, g := range resumesOf(one.happened, came) {
			got = append(got, g.to.Sub(g.from))
		}
		if !slices.Equal(got, one.want) {
			t.Errorf("%s: %v, not %v", what, got, one.want)
		}
	}
}
