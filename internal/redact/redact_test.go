package redact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// parsed reads rules that are right.
func parsed(t testing.TB, o Options) *Rules {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPathsHideWhatTheyLeadToAndNothingElse(t *testing.T) {
	t.Parallel()
	const text = `{"card":{"number":"4711","name":"Ann"},"list":[{"password":"p1"},{"a":{"Password":["p2"]}},7],"a b":1,"x":{"x":{"x":2}}}`
	for path, want := range map[string]string{
		`$.card.number`:       `{"card":{"number":"***","name":"Ann"},"list":[{"password":"p1"},{"a":{"Password":["p2"]}},7],"a b":1,"x":{"x":{"x":2}}}`,
		`$['card']["number"]`: `{"card":{"number":"***","name":"Ann"},"list":[{"password":"p1"},{"a":{"Password":["p2"]}},7],"a b":1,"x":{"x":{"x":2}}}`,
		`$..password`:         `{"card":{"number":"4711","name":"Ann"},"list":[{"password":"***"},{"a":{"Password":"***"}},7],"a b":1,"x":{"x":{"x":2}}}`,
		`$.list[1]`:           `{"card":{"number":"4711","name":"Ann"},"list":[{"password":"p1"},"***",7],"a b":1,"x":{"x":{"x":2}}}`,
		`$.list[*].password`:  `{"card":{"number":"4711","name":"Ann"},"list":[{"password":"***"},{"a":{"Password":["p2"]}},7],"a b":1,"x":{"x":{"x":2}}}`,
		`$.card.*`:            `{"card":{"number":"***","name":"***"},"list":[{"password":"p1"},{"a":{"Password":["p2"]}},7],"a b":1,"x":{"x":{"x":2}}}`,
		`$['a b']`:            `{"card":{"number":"4711","name":"Ann"},"list":[{"password":"p1"},{"a":{"Password":["p2"]}},7],"a b":"***","x":{"x":{"x":2}}}`,
		`$..x.x.x`:            `{"card":{"number":"4711","name":"Ann"},"list":[{"password":"p1"},{"a":{"Password":["p2"]}},7],"a b":1,"x":{"x":{"x":"***"}}}`,
		`$..[2]`:              `{"card":{"number":"4711","name":"Ann"},"list":[{"password":"p1"},{"a":{"Password":["p2"]}},"***"],"a b":1,"x":{"x":{"x":2}}}`,
		`$.list..password`:    `{"card":{"number":"4711","name":"Ann"},"list":[{"password":"***"},{"a":{"Password":"***"}},7],"a b":1,"x":{"x":{"x":2}}}`,
		`$.*`:                 `{"card":"***","list":"***","a b":"***","x":"***"}`,
		`$`:                   `"***"`,
		`$.card[0]`:           text,
		`$.nowhere..deep`:     text,
	} {
		shown, hidden, _ := parsed(t, Options{JSON: []string{path}}).Payload(t.Context(), []byte(text))
		if string(shown) != want || hidden != (want != text) {
			t.Errorf("%s shows\n%s\nwant\n%s", path, shown, want)
		}
	}
}

func TestWhatIsHiddenIsHiddenHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	r := parsed(t, Options{JSON: []string{"$..secret", "$.other"}})
	for _, text := range []string{
		`{"secret":"CANARY"}`, `{"secret":"a","secret":"CANARY","SECRET":"CANARY"}`, `{"\u0073ecret":"CANARY"}`, ` [ [ { "secret" : [ { "a" : "CANARY" } ] } ] ] `,
		`{"a":{"secret":{"secret":"CANARY"}}}`, `{"other":"CANARY","x":"` + strings.Repeat("y", 100) + `"}`,
		// What is no JSON, or more than one.
		`{"secret":"CANARY"`, `{"secret":"CANARY"} {"secret":"CANARY"}`, `secret=CANARY`, "\xef\xbb\xbf" + `{"secret":"CANARY"}`, `{'secret':'CANARY'}`, `{"secret":"CANARY",}`,
		strings.Repeat(`{"a":`, 11_000) + `{"secret":"CANARY"}` + strings.Repeat("}", 11_000),
	} {
		shown, hidden, _ := r.Payload(t.Context(), []byte(text))
		if !hidden || bytes.Contains(shown, []byte("CANARY")) {
			t.Errorf("of %.80s is shown %.80s", text, shown)
		}
	}
}

func TestAPayloadThatIsNoJSONIsHiddenUnlessAsked(t *testing.T) {
	t.Parallel()
	text := []byte("no JSON")
	if shown, hidden, _ := parsed(t, Options{JSON: []string{"$.a"}}).Payload(t.Context(), text); shown != nil || !hidden {
		t.Errorf("it shows %q", shown)
	}
	for _, o := range []Options{{}, {Headers: []string{"a"}}, {JSON: []string{"$.a"}, ShowOther: true}} {
		if shown, hidden, _ := parsed(t, o).Payload(t.Context(), text); string(shown) != "no JSON" || hidden {
			t.Errorf("%+v shows %q", o, shown)
		}
	}
	if shown, hidden, _ := parsed(t, Options{JSON: []string{"$.a"}}).Payload(t.Context(), nil); shown != nil || hidden {
		t.Error("an empty payload has something to hide")
	}
}

func TestHeadersAreHiddenByNameAndByPattern(t *testing.T) {
	t.Parallel()
	all := map[string]string{"Authorization": "a", "X-Key": "b", "x-": "c", "note": "d", "a-token-b": "e", "a-token": "f"}
	shown, hidden := parsed(t, Options{Headers: []string{"authorization", "x-*", "*-token-*"}}).Headers(all)
	if want := "map[Authorization:*** X-Key:*** a-token:f a-token-b:*** note:d x-:***]"; fmt.Sprint(shown) != want || !hidden || all["X-Key"] != "b" {
		t.Errorf("shown is %v, want %s", shown, want)
	}
	if _, hidden := parsed(t, Options{Headers: []string{"authorization"}}).Headers(map[string]string{"note": "d"}); hidden {
		t.Error("of a message without such a header something is hidden")
	}
}

func TestARuleThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "begin with $", "card.number": "begin with $", "$.": "no name", "$..": "ends with ..", "$...a": "no name", "$.a-b": "no step", "$.1": "no name",
		"$[": "has a [", "$[-1]": "indexes from the end", "$[0:2]": "slices", "$[?(@.a)]": "filters", "$['a','b']": "lists", "$['a": "does not end", `$['\x']`: "malformed escape",
		"$[01]": "has a [", "$[99999999999999999999]": "too large", "$a": "no step", "$.a b": "no step", "$[*": "has a [", "$" + strings.Repeat(".a", 63): "62 steps", "$.\xff": "begin with $",
	} {
		_, err := New(Options{JSON: []string{"$.good", text}})
		fault, ok := errors.AsType[*RuleError](err)
		if !ok || fault.Option != "json" || fault.At != 1 || !strings.Contains(fault.Text, want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
	for _, name := range []string{"", "a b", "a:b", "a\x00"} {
		if _, err := New(Options{Headers: []string{name}}); err == nil || !strings.Contains(err.Error(), "headers[0]") {
			t.Errorf("the header %q gives %v", name, err)
		}
	}
	if _, err := New(Options{JSON: make([]string, 101)}); err == nil || !strings.Contains(err.Error(), "at most 100") {
		t.Errorf("101 rules give %v", err)
	}
	if r, err := New(Options{ShowOther: true}); r != nil || err != nil {
		t.Errorf("no rules are %v, %v", r, err)
	}
}

// FuzzNothingOfWhatIsHiddenStays checks that what is shown is JSON, and that no rule finds anything more in it.
func FuzzNothingOfWhatIsHiddenStays(f *testing.F) {
	for _, text := range []string{`{"a":[{"b":1},2],"c":"\ud800\u0000"}`, `[1e999,-0,"\u2028<&>"]`, `{"":{"":[]}}`, `x`} {
		f.Add("$..b", []byte(text))
		f.Add("$.a[1]", []byte(text))
		f.Add(`$['']["c"]`, []byte(text))
	}
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		r, err := New(Options{JSON: []string{path}})
		if err != nil {
			return
		}
		shown, hidden, _ := r.Payload(t.Context(), text)
		if !json.Valid(text) {
			if len(shown) > 0 || hidden != (len(text) > 0) {
				t.Fatalf("of what is no JSON is shown %q", shown)
			}
			return
		}
		if !json.Valid(shown) || !hidden && !bytes.Equal(shown, text) {
			t.Fatalf("shown is %q", shown)
		}
		if again, _, _ := r.Payload(t.Context(), shown); hidden && !bytes.Equal(again, shown) {
			t.Fatalf("the rules find more in %q: %q", shown, again)
		}
	})
}

// A payload of many values takes as long as the one who asks waits, and no longer.
func TestALargePayloadIsLookedAtForAsLongAsTheContextLasts(t *testing.T) {
	t.Parallel()
	var paths []string
	for i := range mostRules {
		paths = append(paths, fmt.Sprintf("$..*..*..a%d", i))
	}
	r := parsed(t, Options{JSON: paths})
	large := []byte("[" + strings.Repeat("[[1]],", 1<<20) + "1]")
	ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	begun := time.Now()
	if shown, hidden, err := r.Payload(ctx, large); !errors.Is(err, context.DeadlineExceeded) || shown != nil || !hidden {
		t.Errorf("after the end of its time it shows %d bytes (hidden: %v, error: %v)", len(shown), hidden, err)
	}
	t.Logf("it took %v", time.Since(begun))
	if shown, hidden, err := r.Payload(t.Context(), []byte("{\"b\": [1, 2]}")); err != nil || hidden || string(shown) != "{\"b\": [1, 2]}" {
		t.Errorf("a small one is %q (hidden: %v, error: %v)", shown, hidden, err)
	}
}
