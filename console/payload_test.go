package console

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func messageOf(m postbag.Message) operations.Message {
	return operations.MessageOf("outbox", &store.Item{Record: store.Record{Message: m}}, true)
}

func parse(t *testing.T, query string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestThePublishCommandSaysTheMessage(t *testing.T) {
	t.Parallel()
	s := &sheet{Database: "shop", Box: "outbox"}
	got := s.Publish(messageOf(postbag.Message{Topic: "orders", Key: "it is 7", Type: "order.created", Headers: map[string]string{"b": "2", "a": "$(rm x)"}, Payload: []byte(`{"a": 1}`)}))
	want := `postbag publish -c postbag.yaml --box outbox --topic orders --key 'it is 7' --type order.created --header 'a=$(rm x)' --header b=2 --payload '{"a": 1}'`
	if got != want {
		t.Errorf("the command is\n%s\nwant\n%s", got, want)
	}
	s.several = true
	if got = s.Publish(messageOf(postbag.Message{Topic: "-x"})); got != `postbag publish -c postbag.yaml --store-name shop --box outbox --topic '-x' --payload ''` {
		t.Errorf("of several databases the command is\n%s", got)
	}
	if got = s.Publish(messageOf(postbag.Message{Topic: "t", Payload: make([]byte, mostLine+1)})); got != "" {
		t.Errorf("of a large payload the command has %d bytes", len(got))
	}
}

func TestAShellTakesEveryTextOfTheCommandAsItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a b", `it's "so"`, "$HOME `id` $(id)", `\`, "*", "~", "a;b&c|d", "!x", "#x", "ä€", "'", "--x"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quoted(text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("of %q a shell takes %q: %v", text, out, err)
		}
	}
}

func TestTextsThatAShellOrATerminalMayTakeForMoreGoAsBase64(t *testing.T) {
	t.Parallel()
	s := &sheet{Box: "outbox"}
	for _, m := range []postbag.Message{
		{Topic: "t", Payload: []byte("a\x1b[201~\nrm x")},
		{Topic: "t", Key: "k\x03", Payload: []byte("x")},
		{Topic: "t", Payload: []byte{0xff, 0}},
		{Topic: "t", Headers: map[string]string{"n": "\u202e"}, ShardKey: "s", Type: "y"},
		{Topic: "t", Headers: map[string]string{"a": `\`}, Payload: []byte("; rm x #")},
		{Topic: "t", Headers: map[string]string{"a=b": "c"}, Payload: []byte("x")},
		{Topic: "t", Key: "it's", Payload: []byte(`{"a": "<b>"}`)},
		{Topic: "t", Key: "!x"},
		{Topic: "t", Key: "\u2019; rm x"},
	} {
		line := s.Publish(messageOf(m))
		text, rest, _ := strings.Cut(strings.TrimPrefix(line, "printf %s "), " ")
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil || rest != "| base64 -d | postbag publish -c postbag.yaml --box outbox --ndjson" || !strings.HasPrefix(string(decoded), "{") {
			t.Errorf("of %+v the command is %s, with %s: %v", m, line, decoded, err)
		}
		var said struct {
			Payload []byte `json:"payload_base64"`
		}
		if err := json.Unmarshal(decoded, &said); err != nil || !bytes.Equal(said.Payload, m.Payload) {
			t.Errorf("the payload %q becomes %q: %v", m.Payload, said.Payload, err)
		}
	}
}

func TestAPayloadThatIsVeryDeepIsNotIndented(t *testing.T) {
	t.Parallel()
	for depth, want := range map[int]bool{mostDepth: true, mostDepth + 1: false, 9000: false} {
		text := strings.Repeat("[", depth) + `"]]\"[["` + strings.Repeat("]", depth)
		if v := payloadOf(messageOf(postbag.Message{Payload: []byte(text)})); (v.JSON != "") != want || v.Text != text {
			t.Errorf("of depth %d it has %d bytes indented", depth, len(v.JSON))
		}
	}
}

func TestAPayloadIsShownAsWhatItIs(t *testing.T) {
	t.Parallel()
	v := payloadOf(messageOf(postbag.Message{Payload: []byte(`{"a":[1,2]}`)}))
	if v.Text != `{"a":[1,2]}` || !strings.Contains(v.JSON, "\n  \"a\": [") || !strings.Contains(v.Hex, "7b 22 61 22") || v.TextCut || v.HexCut {
		t.Errorf("JSON is shown as %+v", v)
	}
	v = payloadOf(messageOf(postbag.Message{Payload: []byte("a\xffb")}))
	if v.Text != "a\ufffdb" || v.JSON != "" || !strings.Contains(v.Hex, "61 ff 62") {
		t.Errorf("bytes are shown as %+v", v)
	}
	v = payloadOf(messageOf(postbag.Message{Payload: []byte(strings.Repeat("1", mostText+1))}))
	if len(v.Text) != mostText || v.JSON != "" || !v.TextCut || !v.HexCut {
		t.Errorf("of a large payload %d bytes are shown, and %d of JSON", len(v.Text), len(v.JSON))
	}
	if payloadOf(messageOf(postbag.Message{})) != nil {
		t.Error("no payload is shown as one")
	}
}

func TestAWayBackIsOfABoundedLength(t *testing.T) {
	t.Parallel()
	s := &sheet{here: "messages", query: map[string][]string{}}
	for range 2 * mostTrail {
		next := s.Next("123.0")
		_, text, _ := strings.Cut(next, "?")
		s.query = parse(t, text)
	}
	if n := strings.Count(s.Get("trail"), trailSep) + 1; n != mostTrail {
		t.Errorf("the way back has %d pages, want %d", n, mostTrail)
	}
	s.query.Set("cursor", strings.Repeat("x", trailBytes+1))
	if _, text, _ := strings.Cut(s.Next("1.0"), "?"); parse(t, text).Get("trail") != "" {
		t.Errorf("the way back is %s", text)
	}
}
