package brokerkit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/brokerkit"
)

func TestPropertiesAreCheckedByNameAndValue(t *testing.T) {
	t.Parallel()
	known := []brokerkit.Property{{Name: "x.n", Allowed: "a whole number from 0 to 9", Valid: func(value string) bool {
		_, ok := brokerkit.WholeNumber(value, 9)
		return ok
	}}}
	for name, c := range map[string]struct {
		headers map[string]string
		want    []string // of the error; none: there is none
	}{
		"none":       {nil, nil},
		"others":     {map[string]string{"a": "CANARY", "y.n": "CANARY", "X.n": "CANARY"}, nil},
		"good":       {map[string]string{"x.n": "9"}, nil},
		"a value":    {map[string]string{"x.n": "CANARY"}, []string{"the header x.n is not a whole number from 0 to 9"}},
		"a misprint": {map[string]string{"x.m": "CANARY"}, []string{`the header "x.m" is no property; there are x.n`}},
		"both":       {map[string]string{"x.n": "10", "x.m": "1"}, []string{"x.n is not", `"x.m" is no`}},
	} {
		f := brokerkit.Adapter("xbroker").CheckProperties(known, c.headers)
		switch {
		case f == nil:
			if len(c.want) > 0 {
				t.Errorf("%s: it is taken", name)
			}
		case len(c.want) == 0 || f.Outcome != broker.Rejected || strings.Contains(f.Error(), "CANARY") || !strings.HasPrefix(f.Error(), "xbroker: "):
			t.Errorf("%s: %v, %v", name, f.Outcome, f)
		default:
			for _, want := range c.want {
				if !strings.Contains(f.Error(), want) {
					t.Errorf("%s: %v does not say %q", name, f, want)
				}
			}
		}
	}
}

func TestNumbersAndSpansOfPropertiesHaveBounds(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"0": true, "255": true, "256": false, "": false, "-1": false, "+1": false, "1.0": false, "1_0": false, "0x1": false} {
		if _, ok := brokerkit.WholeNumber(value, 255); ok != want {
			t.Errorf("the number %q is taken: %v", value, ok)
		}
	}
	for value, want := range map[string]bool{
		"1s": true, "1m30s": true, "1h": true, "3601s": false, "0s": false, "1500ms": false, "60": false, "": false, "-1s": false, "1d": false,
	} {
		if _, ok := brokerkit.Span(value, time.Second, 3600); ok != want {
			t.Errorf("the span %q is taken: %v", value, ok)
		}
	}
}
