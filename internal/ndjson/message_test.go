package ndjson

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
)

func TestLineBecomesTheMessageItDescribes(t *testing.T) {
	t.Parallel()
	id := postbag.NewID()
	due := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	f := func(line string, want postbag.Message) {
		t.Helper()
		got, err := Parse([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if !got.Equal(want) {
			t.Errorf("%s became %+v, want %+v", line, got, want)
		}
	}
	f(`{}`, postbag.Message{})
	f(`{"topic":"a","key":"b","shard_key":"c","type":"d","headers":{"x":"","ü":"y"},"payload":{"n": 1.0}}`, postbag.Message{
		Topic: "a", Key: "b", ShardKey: "c", Type: "d", Headers: map[string]string{"x": "", "ü": "y"}, Payload: []byte(`{"n": 1.0}`),
	})
	f(`{"id":"`+id.String()+`","not_before":"2030-01-02T03:04:05Z"}`, postbag.Message{ID: id, NotBefore: due})
	f(`{"payload":"text \u00fc \ud83d\ude00"}`, postbag.Message{Payload: []byte("text ü 😀")})
	f(`{"payload":null}`, postbag.Message{Payload: []byte("null")})
	f(`{"payload":[1, 2]}`, postbag.Message{Payload: []byte("[1, 2]")})
	f(`{"payload":""}`, postbag.Message{})
	f(`{"payload_base64":"AP+A"}`, postbag.Message{Payload: []byte{0, 0xff, 0x80}})
	f(`{"payload":"\\ud800"}`, postbag.Message{Payload: []byte(`\ud800`)})
	f(`{"payload":{"a":1,"a":2},"headers":{"a":"1","A":"2"}}`, postbag.Message{
		Headers: map[string]string{"a": "1", "A": "2"}, Payload: []byte(`{"a":1,"a":2}`),
	})
}

func TestLineThatIsWrongIsRefusedWithoutItsContent(t *testing.T) {
	t.Parallel()
	f := func(line, want string) {
		t.Helper()
		_, err := Parse([]byte(line))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: the error is %v, want one that says %q", line, err, want)
			return
		}
		if strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%.60s: the error quotes the line: %v", line, err)
		}
	}
	f(``, "no JSON object")
	f(`null`, "no JSON object")
	f(`["CANARY"]`, "no JSON object")
	f(`{"payload":CANARY}`, "from byte 12 on")
	f(`{"payload":"CANARY`, "middle of a message")
	f(`{"payload":1}{"payload":2}`, "more than one value")
	f(`{"payload":1} CANARY`, "more than one value")
	f(`{"topik":"CANARY"}`, `"topik"`)
	f(`{"key":-12345}`, `has JSON number as "key"`)
	f(`{"key":["CANARY"]}`, `has JSON array as "key"`)
	f(`{"headers":{"a":7}}`, "headers")
	f(`{"headers":{"a":null}}`, "without a value")
	f(`{"headers":["CANARY"]}`, "headers")
	f(`{"id":"CANARY"}`, "no UUID")
	f(`{"id":"00000000-0000-0000-0000-000000000000"}`, "no UUID")
	f(`{"not_before":"CANARY"}`, "no time")
	f(`{"not_before":1700000000}`, "not_before")
	f(`{"payload":1,"payload_base64":"AA=="}`, "keep one")
	f(`{"payload_base64":"CANARY!"}`, "no base64")
	f("{\"payload\":\"CANARY\xff\"}", "UTF-8")
	f(`{"payload":"CANARY\ud800"}`, "half a character")
	f(`{"payload":"CANARY\udc00\ud800"}`, "half a character")
	f(`{"payload":"CANARY\ud800\n"}`, "half a character")
	f(`{"topic":"CANARY","key":"k","topic":"CANARY"}`, `the field "topic" twice`)
	f(`{"payload":{"topic":"CANARY"},"payload":null}`, `the field "payload" twice`)
	f(`{"topic":"CANARY","Topic":"b"}`, `the field "Topic" twice`)
	f(`{"topic":"CANARY","t\u006fpic":"b"}`, `the field "topic" twice`)
	f(`{"headers":{"x":"CANARY"},"headers":{}}`, `the field "headers" twice`)
	f(`{"headers":{"x":"CANARY","y":"1","x":"2"}}`, `the header "x" twice`)
	f(`{"payload":`+strings.Repeat("[", 20_000)+`"CANARY"`, "JSON")
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`{}`, `{"payload":{"a":1}}`, `{"id":"x","headers":{"a":null}}`, `{"payload":"\ud800\udc00"}`, `{"payload_base64":"AA"}`, "{\"\xff", `{"key":1e999}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := Parse(line)
		if err == nil && !json.Valid(line) {
			t.Errorf("took a line that is no JSON: %q as %+v", line, m)
		}
	})
}

func FuzzPayloadComesBackBitForBit(f *testing.F) {
	for _, payload := range []string{
		"", `{"a":1}`, `{ "a": 1 }`, `"text"`, "text", "null", "\x00", "\xff\xfe", "{\"a\":\"\u2028\"}", `"\ud800"`, `["\ud800"]`, "<&>", "1.0", `{"a":"b"}`,
	} {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		line, err := json.Marshal(BodyOf(payload))
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse(line)
		if err != nil || string(m.Payload) != string(payload) {
			t.Errorf("%q came back as %q by way of %s (%v)", payload, m.Payload, line, err)
		}
	})
}
