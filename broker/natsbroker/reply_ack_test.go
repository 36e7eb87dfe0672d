package natsbroker

import (
	"encoding/json"
	"testing"

	"github.com/nats-io/nats.go"
)

func TestAcknowledgementsAndErrorsAreParsed(t *testing.T) {
	t.Parallel()
	status := func(code string) nats.Header { return nats.Header{"Status": {code}} }
	for name, c := range map[string]struct {
		data   string
		header nats.Header
		want   answer
	}{
		"an acknowledgement":             {data: `{"stream":"S","seq":12}`, want: answer{kind: acknowledged}},
		"one with a domain":              {data: `{"stream":"S","domain":"hub","seq":12}`, want: answer{kind: acknowledged}},
		"one of an older server":         {data: `{"stream":"S", "seq":12}`, want: answer{kind: acknowledged}},
		"one of a repeat":                {data: `{"stream":"S","seq":12,"duplicate": true}`, want: answer{kind: acknowledged, copy: place{"S", 12}}},
		"one of the largest sequence":    {data: `{"stream":"S","seq":18446744073709551615}`, want: answer{kind: acknowledged}},
		"one of a strange stream":        {data: `{"stream":"S\"","seq":12}`, want: answer{kind: acknowledged}},
		"an unknown status":              {header: status("503"), want: answer{kind: nobody}},
		"another status":                 {header: status("404")},
		"nothing":                        {},
		"text":                           {data: "ok"},
		"JSON of another program":        {data: `{"ok":true}`},
		"a stream without a sequence":    {data: `{"stream":"S"}`},
		"a sequence of zero":             {data: `{"stream":"S","seq":0}`},
		"an invalid sequence":            {data: `{"stream":"S","seq":-1}`},
		"a sequence without a stream":    {data: `{"seq":1}`},
		"an acknowledgement cut off":     {data: `{"stream":"S","seq":12`},
		"an acknowledgement and more":    {data: `{"stream":"S","seq":12}{`},
		"a status in spite of some data": {data: "x", header: status("503")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := readAnswer(&nats.Msg{Data: []byte(c.data), Header: c.header}); got != c.want {
				t.Errorf("read as %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAnErrorReplyThatNamesTheStreamIsNotAnAcknowledgement(t *testing.T) {
	t.Parallel()
	got := readAnswer(&nats.Msg{Data: []byte(
		`{"error":{"code":503,"err_code":10077,"description":"maximum messages exceeded"},"stream":"S","seq":0}`)})
	if got.kind != refused || got.err.ErrorCode != 10077 || got.err.Code != 503 || got.err.Description != "maximum messages exceeded" {
		t.Errorf("read as %+v", got)
	}
}

// The short way must never say more than the JSON decoder.
func FuzzPlainAck(f *testing.F) {
	for _, s := range []string{
		`{"stream":"S","seq":1}`, `{"stream":"","seq":1}`, `{"stream":"S","seq":0}`, `{"stream":"S","seq":01}`, `{"stream":"S","seq":1}x`,
		`{"stream":"S","seq":99999999999999999999}`, `{"stream":"a\u0022","seq":1}`, `{"stream":"S","error":{}}`, `{"stream":"S","seq":}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !plainAck(data) {
			return
		}
		var ack struct {
			Error  any    `json:"error"`
			Stream string `json:"stream"`
			Seq    uint64 `json:"seq"`
		}
		if err := json.Unmarshal(data, &ack); err != nil || ack.Error != nil || ack.Stream == "" || ack.Seq == 0 {
			t.Errorf("%q passes for an acknowledgement: %v, %+v", data, err, ack)
		}
	})
}

func FuzzToken(f *testing.F) {
	f.Add(uint64(1), 0)
	f.Add(uint64(1<<63), 1<<30)
	f.Fuzz(func(t *testing.T, call uint64, i int) {
		if i < 0 || i >= 1<<31 {
			return
		}
		gotCall, gotI, ok := readToken(string(appendToken(nil, call, i)))
		if !ok || gotCall != call || gotI != i {
			t.Errorf("(%d, %d) comes back as (%d, %d, %v)", call, i, gotCall, gotI, ok)
		}
	})
}

func TestInvalidReplyTokensAreRefused(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "-", "1", "1-", "-1", "1-2-3", "x y-1", "1-zzzzzzzzzzzz", "1--1"} {
		if call, i, ok := readToken(token); ok {
			t.Errorf("%q is read as (%d, %d)", token, call, i)
		}
	}
}
