package chaos

import (
	"testing"
	"time"

	"github.com/postbag/postbag/store"
)

// second is a time of the samples.
func second(n float64) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n * float64(time.Second)))
}

// sampled makes a sample of two shards.
func sampled(at float64, a, b holding) ownership {
	return ownership{at: second(at), shards: map[store.Slots]holding{{Lo: 0, Hi: 8}: a, {Lo: 8, Hi: 16}: b}}
}

func TestATakeoverEndsWhenAnotherOwnerSettledEveryShard(t *testing.T) {
	t.Parallel()
	dead, free := holding{"relay0-1", 5, 10}, holding{"", 5, 10}
	other := holding{"relay1-0", 4, 20}
	samples := []ownership{
		sampled(1, dead, other),
		sampled(2, free, other), // it died at 1.5
		sampled(4, holding{"relay1-0", 6, 10}, other),
		sampled(5, holding{"relay1-0", 6, 10}, other),
		sampled(6, holding{"relay1-0", 6, 11}, other),
		sampled(7, holding{"relay1-0", 6, 12}, other),
	}
	died := death{relay: "relay0-1", at: second(1.5)}
	g, ok := takeoverOf(died, samples, nil, nil)
	if !ok || !g.from.Equal(second(1.5)) || !g.to.Equal(second(6)) {
		t.Errorf("%v, %v", g, ok)
	}
	for what, one := range map[string]struct {
		died    death
		samples []ownership
	}{
		"a relay that had no shard":                  {death{relay: "relay0-2", at: second(1.5)}, samples},
		"a relay of which nobody knows what it had":  {death{relay: "relay0-1", at: second(0.5)}, samples},
		"a death long after the last sample":         {death{relay: "relay0-1", at: second(2.5)}, samples[:1]},
		"a death whose takeover the run did not see": {died, samples[:4]},
	} {
		if g, ok := takeoverOf(one.died, one.samples, nil, nil); ok {
			t.Errorf("%s: %v", what, g)
		}
	}
	reshaped := []ownership{samples[0], samples[1], {at: second(3), shards: map[store.Slots]holding{store.AllSlots: other}}}
	if g, ok := takeoverOf(died, reshaped, nil, nil); !ok || !g.to.Equal(second(3)) {
		t.Errorf("of shards that were replaced: %v, %v", g, ok)
	}
}

func TestAMissingTakeoverIsAViolationUnlessAnotherFaultLasts(t *testing.T) {
	t.Parallel()
	dead, other := holding{"relay0-1", 5, 10}, holding{"relay1-0", 4, 20}
	died := death{relay: "relay0-1", at: second(1.5)}
	var samples []ownership
	for at := 1.0; at < 100; at++ {
		samples = append(samples, sampled(at, dead, other))
	}
	outage := Happening{Room: Databases, From: second(3), To: second(90)}
	for what, one := range map[string]struct {
		happened []Happening
		deaths   []death
		long     bool
	}{
		"nothing else":             {nil, nil, true},
		"its own fault":            {[]Happening{{Room: Processes, From: second(1), To: second(90)}}, []death{died}, true},
		"what lasts throughout":    {[]Happening{{Room: Databases, Throughout: true, To: second(200)}}, nil, true},
		"an outage that ended":     {[]Happening{outage}, nil, false},
		"an outage long ago":       {[]Happening{{Room: Databases, From: second(3), To: second(4)}}, nil, true},
		"the death of another one": {nil, []death{{relay: "relay1-0", at: second(80)}}, false},
	} {
		g, ok := takeoverOf(died, samples, one.deaths, one.happened)
		if took := g.to.Sub(g.from); !ok || took > takeover != one.long {
			t.Errorf("%s: %v, %v", what, took, ok)
		}
	}
}
