package postbag

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestRawCodecTakesAndGivesBytes(t *testing.T) {
	t.Parallel()
	in := []byte{0, 0xff, '\n'}
	payload, err := RawCodec{}.Marshal(in)
	if err != nil || string(payload) != string(in) {
		t.Fatalf("Marshal = %v, %v", payload, err)
	}
	var out []byte
	if err := (RawCodec{}).Unmarshal(payload, &out); err != nil || string(out) != string(in) {
		t.Fatalf("Unmarshal = %v, %v", out, err)
	}
	out[0] = 'x'
	if payload[0] != 0 {
		t.Error("the value read shares its bytes with the payload")
	}
}

func TestRawCodecRefusesOtherTypes(t *testing.T) {
	t.Parallel()
	for _, v := range []any{nil, "text", 1, []int{1}, json.RawMessage("{}")} {
		if _, err := (RawCodec{}).Marshal(v); !errors.Is(err, errRaw) {
			t.Errorf("Marshal of %T: %v", v, err)
		}
	}
	var s string
	if err := (RawCodec{}).Unmarshal([]byte("x"), &s); !errors.Is(err, errRaw) {
		t.Errorf("Unmarshal into a string: %v", err)
	}
}

func TestJSONCodecIsEncodingJSON(t *testing.T) {
	t.Parallel()
	type doc struct {
		A int `json:"a,omitempty"`
	}
	payload, err := JSONCodec{}.Marshal(doc{A: 1})
	if err != nil || string(payload) != `{"a":1}` {
		t.Fatalf("Marshal = %s, %v", payload, err)
	}
	var out doc
	if err := (JSONCodec{}).Unmarshal([]byte(`{"a":2,"new":true}`), &out); err != nil || out.A != 2 {
		t.Errorf("Unmarshal = %+v, %v", out, err)
	}
}

func TestCodecReasonQuotesNoData(t *testing.T) {
	t.Parallel()
	decode := func(data string, v any) error { return json.Unmarshal([]byte(data), v) }
	encode := func(v any) error { _, err := json.Marshal(v); return err }
	var number struct{ N int8 }
	for _, tc := range []struct {
		name string
		err  error
		says string
	}{
		{"broken JSON", decode(`{"`+canary, &number), "the JSON is broken at byte 8"},
		{"a string for a number", decode(`{"N":"`+canary+`"}`, &number), "the JSON at byte 13 does not fit Go type int8"},
		{"a number too large", decode(`{"N":987654}`, &number), "does not fit Go type int8"},
		{"a type JSON lacks", encode(make(chan int)), "JSON cannot hold Go type chan int"},
		{"another package's error", errors.New("bad value " + canary), "the codec says *errors.errorString, whose text may quote data"},
		{"the raw codec's", errRaw, "RawCodec takes []byte only; use it with Event[[]byte]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := codecReason(tc.err)
			if !strings.Contains(got, tc.says) {
				t.Errorf("codecReason(%v) = %q, want it to say %q", tc.err, got, tc.says)
			}
			if strings.Contains(got, canary) || strings.Contains(got, "987654") {
				t.Errorf("%q quotes the data", got)
			}
		})
	}
}
