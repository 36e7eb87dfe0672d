package chaos

import (
	"slices"
	"testing"
	"time"
)

func TestTheReportTellsWhetherOtherTopicsWentOn(t *testing.T) {
	t.Parallel()
	broken := func(from, to float64) Happening {
		return Happening{Fault: "topic", Room: Brokers, Topic: "b", From: second(from), To: second(to)}
	}
	other := func(from, to float64) Happening {
		return Happening{Fault: "cut", Room: DatabaseWire, From: second(from), To: second(to)}
	}
	idle, always := broken(23, 28), other(0, 100)
	idle.Idle, always.Throughout = true, true
	var came arrivals
	for _, at := range []float64{20, 21, 22, 23, 28, 29, 30} {
		came.note(second(at))
	}
	for what, one := range map[string]struct {
		happened []Happening
		want     []time.Duration
	}{
		"they go on":                      {[]Happening{broken(19.5, 23.5)}, nil},
		"they stop":                       {[]Happening{broken(22.5, 29)}, []time.Duration{5 * time.Second}},
		"they stop until the end":         {[]Happening{broken(29.5, 34)}, []time.Duration{4 * time.Second}},
		"nothing was held":                {[]Happening{idle}, nil},
		"something else is broken":        {[]Happening{other(24, 25), broken(22.5, 29)}, nil},
		"something else was broken":       {[]Happening{other(10, 13), broken(22.5, 29)}, nil},
		"something else was broken early": {[]Happening{other(10, 12), broken(22.5, 29)}, []time.Duration{5 * time.Second}},
		"something is there all the time": {[]Happening{always, broken(22.5, 29)}, []time.Duration{5 * time.Second}},
	} {
		var got []time.Duration
		for _, g := range silences(one.happened, came) {
			got = append(got, g.to.Sub(g.from))
		}
		if !slices.Equal(got, one.want) {
			t.Errorf("%s: %v, not %v", what, got, one.want)
		}
	}
}

func TestTheReportTellsWhenAFailedTopicResumed(t *testing.T) {
	t.Parallel()
	var came arrivals
	came.note(second(12))
	happened := ofTopics([]Happening{
		{Fault: "topic", Topic: "b", From: second(5), To: second(10)},
		{Fault: "no effect", Topic: "b", From: second(5), To: second(11), Idle: true},
		{Fault: "outage", Stops: true, From: second(1), To: second(2)},
	})
	got := resumesOf(happened, came)
	if len(got) != 1 || got[0].of != "topic" || got[0].to.Sub(got[0].from) != 2*time.Second {
		t.Errorf("it went on %v", got)
	}
}
