package storekit

import (
	"encoding/json"
	"maps"
	"testing"
	"unicode/utf8"
)

func FuzzHeadersComeBackAsTheyWere(f *testing.F) {
	f.Add("name", "value", "other", "")
	f.Add("", "\"\\\n\x01", "ä", "\u2028</script>&")
	f.Add("a", `{"a":"b"}`, "b", "\\u0041")
	f.Fuzz(func(t *testing.T, name, value, name2, value2 string) {
		for _, s := range []string{name, value, name2, value2} {
			if !utf8.ValidString(s) {
				return
			}
		}
		headers := map[string]string{name: value, name2: value2}
		text, err := HeadersText(headers)
		if err != nil {
			t.Fatal(text, err)
		}
		got, err := ParseHeaders(text)
		if err != nil || !maps.Equal(got, headers) {
			t.Fatalf("%q came back as %q by %s (error: %v)", headers, got, text, err)
		}
	})
}

func FuzzHeadersOfOthersAreReadAsJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"a":"b"}`, `{"a":"b","c":"d"}`, `{"a":"b",}`, `{"a":"b" "c":"d"}`, `{"a"}`, `{"a":1}`, `{"a":null}`,
		`{"a":"b\"c"}`, `{ "a" : "b" }`, `{"a":"b"`, `{"a":{"b":"c"}}`, `{"a":"b","a":"c"}`, `{"":""}`, `[]`, `null`, ``, `{"a":"b"}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want map[string]string
		if json.Unmarshal([]byte(text), &want) != nil || want == nil || containsControl(text) {
			return
		}
		for _, v := range want {
			if v == "" {
				return // an empty string, or null, which keeps its JSON
			}
		}
		got, err := ParseHeaders(text)
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("%s was read as %q (error: %v), want %q", text, got, err, want)
		}
	})
}

func containsControl(text string) bool {
	for _, r := range text {
		if r < ' ' || r == utf8.RuneError {
			return true
		}
	}
	return false
}

func TestPlainHeadersTakeNoMalformedText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"a":"b",}`, `{"a":"b""c":"d"}`, `{"a"}`, `{"a":}`, `{"a":"b"`, `{,}`, `{"a":"b"}}`, `{"a":1}`, `{"a":"b",,"c":"d"}`, `{"`, `{"a":"b\u0041"}`, ``,
	} {
		if headers, ok := plainHeaders(text); ok {
			t.Errorf("%s was read as %q", text, headers)
		}
	}
}
