package postbag

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// canary stands in faulty fields, so that a leak of them shows in an error.
const canary = "c4n4ry"

// publishOne publishes m by itself and returns its faults.
func publishOne(t *testing.T, o PublisherOptions, m Message) []*MessageError {
	t.Helper()
	p, r := newTestPublisher(t, o)
	err := p.Publish(t.Context(), &testTx{}, m)
	if err != nil && len(r.calls) > 0 {
		t.Errorf("refused, but the store was called: %v", r.calls)
	}
	if err == nil {
		r.only(t)
	}
	return messageErrors(t, err)
}

func TestPublishTakesWhatIsWithinTheLimits(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]Message{
		"nothing set":                 {},
		"an empty payload":            {Payload: []byte{}},
		"any bytes in the payload":    {Payload: []byte{0, 0xff, 0xfe, '\n', 0}},
		"a payload of the limit":      {Payload: make([]byte, defaultMaxSize)},
		"a topic of the limit":        {Topic: strings.Repeat("t", MaxName)},
		"a type of the limit":         {Type: strings.Repeat("t", MaxName)},
		"a key of the limit":          {Key: strings.Repeat("k", MaxKey)},
		"a shard key of the limit":    {Key: "k", ShardKey: strings.Repeat("s", MaxKey)},
		"a shard key without a key":   {ShardKey: "s"},
		"headers of the limit":        {Headers: map[string]string{"h": strings.Repeat("v", MaxHeader-len(`{"h":""}`))}},
		"an empty header value":       {Headers: map[string]string{"h": ""}},
		"line ends in a header":       {Headers: map[string]string{"a\r\nb": "c\r\nd"}},
		"a header that is no token":   {Headers: map[string]string{"ключ: 1": "значение"}},
		"a header named almost so":    {Headers: map[string]string{"Postbag": "a", "Postbagger-X": "b", "X-Postbag-Id": "c"}},
		"the highest rune":            {Key: string(utf8.MaxRune), Topic: "\U0010FFFF"},
		"the replacement character":   {Key: "\uFFFD"},
		"due long ago":                {NotBefore: time.Unix(0, 0)},
		"due at the end of time":      {NotBefore: time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)},
		"an id of another version":    {ID: ID{15: 1}},
		"due in 1970 by UTC, not UTC": {NotBefore: time.Unix(0, 0).In(time.FixedZone("west", -12*3600))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := publishOne(t, PublisherOptions{}, m); got != nil {
				t.Errorf("refused: %v", got)
			}
		})
	}
}

func TestPublishRefusesBeforeAnySQL(t *testing.T) {
	t.Parallel()
	const notUTF8, nul = canary + "\xff", canary + "\x00"
	long := func(n int) string { return canary + strings.Repeat("x", n-len(canary)) }
	type limit struct{ got, allowed int }
	for _, tc := range []struct {
		name    string
		message Message
		field   string
		header  string
		says    string
		limit   limit
	}{
		{name: "topic too long", message: Message{Topic: long(256)}, field: "Topic", says: "holds 256 bytes, 255 allowed; shorten it", limit: limit{256, 255}},
		{name: "topic not UTF-8", message: Message{Topic: notUTF8}, field: "Topic", says: "not valid UTF-8; "},
		{name: "topic with NUL", message: Message{Topic: nul}, field: "Topic", says: "NUL byte; "},
		{name: "type too long", message: Message{Type: long(300)}, field: "Type", says: "holds 300 bytes, 255 allowed", limit: limit{300, 255}},
		{name: "type not UTF-8", message: Message{Type: notUTF8}, field: "Type", says: "not valid UTF-8; "},
		{name: "type with NUL", message: Message{Type: nul}, field: "Type", says: "NUL byte; "},
		{name: "key too long", message: Message{Key: long(1025)}, field: "Key", says: "holds 1025 bytes, 1024 allowed", limit: limit{1025, 1024}},
		{name: "key too long in bytes, not in runes", message: Message{Key: canary + strings.Repeat("é", 512)}, field: "Key", says: "holds 1030 bytes", limit: limit{1030, 1024}},
		{name: "key not UTF-8", message: Message{Key: notUTF8}, field: "Key", says: "not valid UTF-8; "},
		{name: "key a lone surrogate", message: Message{Key: canary + "\xed\xa0\x80"}, field: "Key", says: "not valid UTF-8; "},
		{name: "key overlong", message: Message{Key: canary + "\xc0\x80"}, field: "Key", says: "not valid UTF-8; "},
		{name: "key with NUL", message: Message{Key: nul}, field: "Key", says: "NUL byte; "},
		{name: "shard key too long", message: Message{ShardKey: long(2000)}, field: "ShardKey", says: "holds 2000 bytes, 1024 allowed", limit: limit{2000, 1024}},
		{name: "shard key not UTF-8", message: Message{ShardKey: notUTF8}, field: "ShardKey", says: "not valid UTF-8; "},
		{name: "shard key with NUL", message: Message{ShardKey: nul}, field: "ShardKey", says: "NUL byte; "},
		{name: "header without a name", message: Message{Headers: map[string]string{"": canary}}, field: "Headers", says: "without a name; "},
		{name: "header name not UTF-8", message: Message{Headers: map[string]string{"h\xff": canary}}, field: "Headers", header: "h\xff", says: `Headers["h\xff"] has a name that is not valid UTF-8; `},
		{name: "header name with NUL", message: Message{Headers: map[string]string{"h\x00": canary}}, field: "Headers", header: "h\x00", says: `Headers["h\x00"] has a name that holds a NUL byte; `},
		{name: "header value not UTF-8", message: Message{Headers: map[string]string{"h": notUTF8}}, field: "Headers", header: "h", says: "has a value that is not valid UTF-8; "},
		{name: "header value with NUL", message: Message{Headers: map[string]string{"h": nul}}, field: "Headers", header: "h", says: "has a value that holds a NUL byte; "},
		{name: "reserved header", message: Message{Headers: map[string]string{"Postbag-Id": canary}}, field: "Headers", header: "Postbag-Id", says: "begins with Postbag-, which relays use; "},
		{name: "reserved header in another case", message: Message{Headers: map[string]string{"pOSTBAG-mine": canary}}, field: "Headers", header: "pOSTBAG-mine", says: "relays use; "},
		{name: "reserved beginning alone", message: Message{Headers: map[string]string{"postbag-": canary}}, field: "Headers", header: "postbag-", says: "relays use; "},
		{name: "headers too large as they are stored", message: Message{Headers: map[string]string{"a": strings.Repeat("\x01", 20_000)}}, field: "Headers", says: "holds 120008 bytes, 65536 allowed", limit: limit{120008, MaxHeader}},
		{name: "headers too large together", message: Message{Headers: map[string]string{"a": long(40_000), "b": long(40_000)}}, field: "Headers", says: "holds 80015 bytes, 65536 allowed", limit: limit{80015, MaxHeader}},
		{name: "payload too large", message: Message{Payload: []byte(long(defaultMaxSize + 1))}, field: "Payload", says: "holds 1048577 bytes, 1048576 allowed; send a reference to it, or raise", limit: limit{defaultMaxSize + 1, defaultMaxSize}},
		{name: "due before 1970", message: Message{NotBefore: time.Unix(-1, 0)}, field: "NotBefore", says: "between the years 1970 and 9999; "},
		{name: "due in the year 1", message: Message{NotBefore: time.Time{}.Add(1)}, field: "NotBefore", says: "between the years"},
		{name: "due in milliseconds taken for seconds", message: Message{NotBefore: time.Unix(1_700_000_000_000, 0)}, field: "NotBefore", says: "between the years"},
		{name: "due beyond 9999 by UTC only", message: Message{NotBefore: time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("west", -12*3600))}, field: "NotBefore", says: "between the years"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := publishOne(t, PublisherOptions{}, tc.message)
			if len(got) != 1 {
				t.Fatalf("%d faults, want one: %v", len(got), got)
			}
			e := got[0]
			if e.Field != tc.field || e.Header != tc.header || e.Index != 0 || (limit{e.Got, e.Allowed}) != tc.limit {
				t.Errorf("fault is %+v", *e)
			}
			if s := e.Error(); !strings.HasPrefix(s, "postbag: message 0: "+tc.field) || !strings.Contains(s, tc.says) {
				t.Errorf("error is %q, want it to say %q", s, tc.says)
			}
			if strings.Contains(e.Error(), canary) {
				t.Errorf("error %q quotes the message", e)
			}
		})
	}
}

func TestAFieldWithTwoFaultsReportsBoth(t *testing.T) {
	t.Parallel()
	got := publishOne(t, PublisherOptions{}, Message{Key: strings.Repeat("\xff", 1025)})
	if len(got) != 2 || got[0].Allowed != MaxKey || !strings.Contains(got[1].Reason, "UTF-8") {
		t.Errorf("faults are %v", got)
	}
}

func TestMaxSizeOfTheOptionsIsTheLimit(t *testing.T) {
	t.Parallel()
	if got := publishOne(t, PublisherOptions{MaxSize: 3}, Message{Payload: []byte("abc")}); got != nil {
		t.Errorf("3 bytes of 3: %v", got)
	}
	got := publishOne(t, PublisherOptions{MaxSize: 3}, Message{Payload: []byte("abcd")})
	if len(got) != 1 || got[0].Got != 4 || got[0].Allowed != 3 {
		t.Errorf("4 bytes of 3: %v", got)
	}
}

func TestValidateJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, payload, says string }{
		{"an object", `{"a":[1,2.5e3,null,"é"]}`, ""},
		{"a number", `1`, ""},
		{"spaces around", " \n true\t", ""},
		{"empty", "", "is empty, which is not JSON; "},
		{"blank", " \n", "is empty, which is not JSON; "},
		{"cut off", `{"` + canary + `":`, "is not JSON from byte 10 on; "},
		{"two values", `{} {"` + canary + `":1}`, "is not JSON from byte 4 on; "},
		{"a bare word", canary, "is not JSON from byte 1 on; "},
		{"not UTF-8 within a string", "\"" + canary + "\xff\"", "not valid UTF-8; "},
		{"binary", "\x00\x01" + canary, "is not JSON from byte 1 on; "},
		{"nested too deep", strings.Repeat("[", 20_000), "is not JSON"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := Message{Payload: []byte(tc.payload)}
			if got := publishOne(t, PublisherOptions{}, m); got != nil {
				t.Errorf("refused without the option: %v", got)
			}
			got := publishOne(t, PublisherOptions{ValidateJSON: true}, m)
			if tc.says == "" {
				if got != nil {
					t.Errorf("refused: %v", got)
				}
				return
			}
			if len(got) != 1 || got[0].Field != "Payload" || !strings.Contains(got[0].Error(), tc.says) {
				t.Fatalf("faults are %v, want one that says %q", got, tc.says)
			}
			if strings.Contains(got[0].Error(), canary) || strings.Contains(got[0].Error(), "'c'") {
				t.Errorf("error %q quotes the payload", got[0])
			}
		})
	}
}

func TestAllFaultsOfAllMessagesAreReportedAtOnceInOrder(t *testing.T) {
	t.Parallel()
	p, r := newTestPublisher(t, PublisherOptions{})
	err := p.Publish(
		t.Context(), &testTx{},
		Message{Topic: "good"},
		Message{Topic: "\xff", Key: "\x00", Headers: map[string]string{"z": "\x00", "a": "\xff", "postbag-x": "", "fine": "1"}},
		Message{Topic: "good"},
		Message{Type: strings.Repeat("t", 256), NotBefore: time.Unix(-1, 0)},
	)
	var got []string
	for _, e := range messageErrors(t, err) {
		got = append(got, fmt.Sprintf("%d %s%s", e.Index, e.Field, e.Header))
	}
	want := "1 Topic,1 Key,1 Headersa,1 Headerspostbag-x,1 Headersz,3 Type,3 NotBefore"
	if strings.Join(got, ",") != want {
		t.Errorf("faults are %v, want %s", got, want)
	}
	if len(r.calls) != 0 {
		t.Errorf("the store was called: %v", r.calls)
	}
}

func TestHeadersAreReportedInTheOrderOfTheirNames(t *testing.T) {
	t.Parallel()
	for range 50 { // a map's order differs each time
		bad := map[string]string{"d": "\xff", "a": "\xff", "c": "\xff", "b": "\xff"}
		var got string
		for _, e := range publishOne(t, PublisherOptions{}, Message{Headers: bad}) {
			got += e.Header
		}
		if got != "abcd" {
			t.Fatalf("reported in the order %q", got)
		}
	}
}

func TestFaultsBeyondTwentyAreCountedNotListed(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 20, 21, 10_000} {
		p, _ := newTestPublisher(t, PublisherOptions{})
		msgs := make([]Message, n)
		for i := range msgs {
			msgs[i].Key = "\xff"
		}
		err := p.Publish(t.Context(), &testTx{}, msgs...)
		if got := len(messageErrors(t, err)); got != min(n, 20) {
			t.Errorf("%d faults: %d reported", n, got)
		}
		closing := fmt.Sprintf("postbag: and %d more faults; fix these first", n-20)
		if got := strings.HasSuffix(err.Error(), closing); got != (n > 20) {
			t.Errorf("%d faults: error ends %q", n, err.Error()[max(0, len(err.Error())-80):])
		}
	}
}

func TestASingleFaultIsTheErrorItself(t *testing.T) {
	t.Parallel()
	p, _ := newTestPublisher(t, PublisherOptions{})
	err := p.Publish(t.Context(), &testTx{}, Message{Key: "\xff"})
	if _, ok := err.(*MessageError); !ok { //nolint:errorlint // the very value is promised
		t.Errorf("error is a %T", err)
	}
	wrapped := fmt.Errorf("place order: %w", err)
	var m *MessageError
	if !errors.As(wrapped, &m) || m.Field != "Key" {
		t.Errorf("errors.As does not find it in %v", wrapped)
	}
}

func TestALongHeaderNameIsCutInTheError(t *testing.T) {
	t.Parallel()
	got := publishOne(t, PublisherOptions{}, Message{Headers: map[string]string{strings.Repeat("h", 5000): "\xff"}})
	if len(got) != 1 || len(got[0].Error()) > 300 {
		t.Errorf("faults are %v", got)
	}
}

// FuzzPublish publishes any message, alone and twice, and holds that it is either
// refused with nothing written and clean errors, or stored bit for bit as a
// message that any database can hold.
func FuzzPublish(f *testing.F) {
	f.Add("topic", "key", "shard", "type", "name", "value", []byte("payload"), int64(1), false, false)
	f.Add("", "", "", "", "", "", []byte(nil), int64(0), true, true)
	f.Add("\xff", "\x00", "s", "\xed\xa0\x80", "Postbag-Id", "\xc0\x80", []byte("{}"), int64(-1), true, false)
	f.Add("é", strings.Repeat("k", 1025), "", "a.*", "X: y\r\n", "日本", []byte{0}, int64(1)<<60, false, true)
	f.Fuzz(func(t *testing.T, topic, key, shard, kind, name, value string, payload []byte, due int64, ordered, validateJSON bool) {
		in := Message{Topic: topic, Key: key, ShardKey: shard, Type: kind, Payload: payload, Headers: map[string]string{name: value}}
		if due != 0 {
			in.NotBefore = time.Unix(due, 0)
		}
		before := in.Clone()
		p, r := newTestPublisher(t, PublisherOptions{MaxSize: 1000, ValidateJSON: validateJSON, Headers: map[string]string{"box": "default"}})
		publish := p.Publish
		if ordered {
			publish = p.PublishOrdered
		}
		err := publish(t.Context(), &testTx{}, in, in)
		if !in.Equal(before) {
			t.Fatal("the message was changed")
		}
		if err != nil {
			cleanlyRefused(t, err, r)
			return
		}
		for _, got := range r.only(t) {
			storable(t, got)
			want := in
			want.ID = got.ID
			want.Headers = map[string]string{"box": "default"}
			maps.Copy(want.Headers, in.Headers)
			if topic == "" {
				want.Topic = "outbox"
			}
			if !got.Equal(want) {
				t.Fatalf("stored %+v of %+v", got, in)
			}
		}
	})
}

func cleanlyRefused(t *testing.T, err error, r *recording) {
	t.Helper()
	if len(r.calls) != 0 {
		t.Fatalf("refused, but the store was called: %v", r.calls)
	}
	for _, e := range messageErrors(t, err) {
		s := e.Error()
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\r\n\x1b") || len(s) > 600 || !strings.Contains(s, "; ") {
			t.Fatalf("error %q is not clean", s)
		}
	}
}

func storable(t *testing.T, m Message) {
	t.Helper()
	size := 0
	texts := []string{m.Topic, m.Type, m.Key, m.ShardKey}
	for name, value := range m.Headers {
		texts = append(texts, name, value)
		size += len(name) + len(value)
	}
	for _, s := range texts {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Fatalf("stored the text %q", s)
		}
	}
	if size > MaxHeader || len(m.Topic) > MaxName || len(m.Type) > MaxName || len(m.Key) > MaxKey || len(m.ShardKey) > MaxKey {
		t.Fatalf("stored beyond the limits: %+v", m)
	}
	if len(m.Payload) > 1000 || m.ID.IsZero() || m.Topic == "" {
		t.Fatalf("stored %+v", m)
	}
}
