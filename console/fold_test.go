package console

import (
	"strings"
	"testing"

	"github.com/postbag/postbag"
)

// flat writes a folded value in one line, in the sequence of its parts.
func flat(f *folded) string {
	text := f.Name + f.Kind + ":" + f.Text
	for _, one := range f.Within {
		text += "(" + flat(one) + ")"
	}
	return text
}

func TestJSONIsFoldedAsItStands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"b":1.50,"a":[true,null,"<\u003c\n"],"b":{}}`: `object:3("b"number:1.50)("a"array:3(word:true)(word:null)(string:"<<\n"))("b"object:0)`,
		`[12345678901234567890]`:                        `array:1(number:12345678901234567890)`,
	} {
		if v := foldOf([]byte(text)); v == nil || flat(v) != want || !v.Open {
			t.Errorf("%s is folded as %v, want %s", text, v, want)
		}
	}
	for _, text := range []string{"", "7", `"a"`, "{", "[1] [2]", "{}x", `{"a":1,}`, "[" + strings.Repeat("1,", mostFolded) + "1]", strings.Repeat("[", mostDepth+1) + strings.Repeat("]", mostDepth+1)} {
		if v := foldOf([]byte(text)); v != nil {
			t.Errorf("%.40q is folded as %.100s", text, flat(v))
		}
	}
}

func TestATraceIsLinkedByTheHeaderOfItsMessage(t *testing.T) {
	t.Parallel()
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	whole := "00-" + trace + "-" + span + "-01"
	for _, c := range []struct{ template, header, value, want string }{
		{"https://j.example/trace/{trace_id}?s={span_id}", "traceparent", whole, "https://j.example/trace/" + trace + "?s=" + span},
		{"https://j.example/{trace_id}", "Traceparent", " " + whole + " ", "https://j.example/" + trace},
		{"", "traceparent", whole, ""},
		{"https://j.example/{trace_id}", "traceparent", "00-" + strings.Repeat("0", 32) + "-" + span + "-01", ""},
		{"https://j.example/{trace_id}", "traceparent", `"><script>`, ""},
		{"https://j.example/{trace_id}", "tracestate", whole, ""},
	} {
		if got := traceOf(c.template, map[string]string{"a": "b", c.header: c.value}); got != c.want {
			t.Errorf("%s with %s %s leads to %q, want %q", c.template, c.header, c.value, got, c.want)
		}
	}
	for template, right := range map[string]bool{
		"": true, "https://j.example/{trace_id}": true, "http://127.0.0.1:16686/trace/{trace_id}": true,
		"https://j.example/": false, "javascript:alert({trace_id})": false, "/trace/{trace_id}": false, "https://a:b@j.example/{trace_id}": false, "https://{trace_id}": true, "%zz{trace_id}": false,
	} {
		if err := validTraceLink(template); (err == nil) != right {
			t.Errorf("%q: %v", template, err)
		}
	}
}

func TestAPayloadIsShownDecodedWhereThatCanBe(t *testing.T) {
	t.Parallel()
	s := &sheet{console: &console{decode: func(topic, typ string, payload []byte) (string, bool) {
		return `{"topic":"` + topic + `","n":1}`, typ == "known" && string(payload) == "\x01"
	}}}
	m := messageOf(postbag.Message{Topic: "t", Type: "known", Payload: []byte("\x01")})
	if v := s.Payload(m); v.Decoded != `{"topic":"t","n":1}` || v.DecodedFolded == nil || v.Hex == "" {
		t.Errorf("it is shown as %+v", v)
	}
	m.Type = "other"
	if v := s.Payload(m); v.Decoded != "" || v.DecodedFolded != nil {
		t.Errorf("what cannot be decoded is shown as %+v", v)
	}
	m.Topic = strings.Repeat("x", mostText)
	m.Type = "known"
	if v := s.Payload(m); len(v.Decoded) != mostText || v.DecodedFolded != nil {
		t.Errorf("of a long text %d bytes are shown", len(v.Decoded))
	}
	if v := (&sheet{console: &console{}}).Payload(m); v.Decoded != "" {
		t.Errorf("without a decoder it is shown as %+v", v)
	}
}
