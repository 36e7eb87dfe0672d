package source_test

import (
	"testing"

	"github.com/postbag/postbag/source"
)

func TestAHeaderIsFoundByItsExactNameFirst(t *testing.T) {
	t.Parallel()
	h := source.Headers{{"ID", "upper"}, {"id", "lower"}, {"id", "second"}, {"Empty", ""}}
	for name, want := range map[string]string{"ID": "upper", "id": "lower", "Id": "upper", "empty": ""} {
		if got, ok := h.Get(name); !ok || got != want {
			t.Errorf("Get(%q) is %q, %v; want %q", name, got, ok, want)
		}
	}
	if got, ok := h.Get("other"); ok || got != "" {
		t.Errorf("a header that is not there is %q", got)
	}
	if _, ok := source.Headers(nil).Get("any"); ok {
		t.Error("no headers have one")
	}
}

func TestTheSizeOfAMessageCountsPayloadKeyAndHeaders(t *testing.T) {
	t.Parallel()
	m := source.Message{Topic: "not counted", Key: "key", Payload: []byte("payload"), Headers: source.Headers{{"a", "bc"}, {"", "d"}}}
	if got := m.Size(); got != 3+7+3+1 {
		t.Errorf("the size is %d", got)
	}
	if got := (&source.Message{}).Size(); got != 0 {
		t.Errorf("the size of nothing is %d", got)
	}
}

func TestAPlaceIsZeroOnlyWithoutASource(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]source.Place{
		"no place":    {},
		"orders@0":    {Source: "orders"},
		"orders/3@17": {Source: "orders", Partition: "3", Offset: 17},
		"s@17-2":      {Source: "s", Offset: 17, Minor: 2},
	} {
		if got := p.String(); got != want {
			t.Errorf("%#v is %q, want %q", p, got, want)
		}
		if p.IsZero() != (want == "no place") {
			t.Errorf("%v is zero: %v", p, p.IsZero())
		}
	}
}

func TestOrdersHaveNames(t *testing.T) {
	t.Parallel()
	for o, want := range map[source.Order]string{
		source.OrderNone: "none", source.OrderPartition: "partition", source.OrderStream: "stream", 7: "order(7)",
	} {
		if got := o.String(); got != want {
			t.Errorf("order %d is %q, want %q", int(o), got, want)
		}
	}
}
