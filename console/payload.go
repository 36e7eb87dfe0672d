package console

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/postbag/postbag/internal/operations"
)

// How much of a payload a page shows, in bytes.
const (
	mostText = 64 << 10
	mostHex  = 4 << 10
	// mostDecoded is how large a payload is that Options.Decode gets.
	mostDecoded = 1 << 20
	// mostDepth is how deep what is indented may be: the spaces before each line grow with it.
	mostDepth = 64
	mostLine  = 64 << 10 // of a payload in a command: a shell takes no argument of more than 128 KiB
)

// shown is a payload as a page shows it.
type shown struct {
	// Text is the payload as text, with its invalid bytes replaced.
	Text string
	// JSON is it indented; empty: it is no JSON, or too large.
	JSON string
	// Folded is the same, with parts that can be closed; nil: there are too many values, or there is only one.
	Folded *folded
	// Decoded is what Options.Decode makes of it, and DecodedFolded the same where it is JSON.
	Decoded       string
	DecodedFolded *folded
	// Hex is a dump of its first bytes.
	Hex string
	// TextCut and HexCut: there is more.
	TextCut, HexCut bool
}

// Payload makes the payload of a message ready for the page. Without one it is nil.
func (s *sheet) Payload(m operations.Message) *shown {
	v := payloadOf(m)
	if v == nil || s.console.decode == nil {
		return v
	}
	data, err := m.Body.Bytes()
	if err != nil || len(data) > mostDecoded {
		return v
	}
	if text, ok := s.console.decode(m.Topic, m.Type, data); ok {
		v.Decoded = strings.ToValidUTF8(text[:min(len(text), mostText)], "\ufffd")
		v.DecodedFolded = foldOf([]byte(v.Decoded))
	}
	return v
}

// Trace is the address of the trace that the headers of a message name; empty: there is none.
func (s *sheet) Trace(m operations.Message) string { return traceOf(s.console.traceLink, m.Headers) }

// payloadOf makes a payload ready for a page. Without one it is nil.
func payloadOf(m operations.Message) *shown {
	data, err := m.Body.Bytes()
	if err != nil || len(data) == 0 {
		return nil
	}
	v := &shown{TextCut: len(data) > mostText, HexCut: len(data) > mostHex}
	v.Text = strings.ToValidUTF8(string(data[:min(len(data), mostText)]), "\ufffd")
	v.Hex = hex.Dump(data[:min(len(data), mostHex)])
	var indented bytes.Buffer
	if !v.TextCut && depthOf(data) <= mostDepth && json.Indent(&indented, data, "", "  ") == nil {
		v.JSON, v.Folded = indented.String(), foldOf(data)
	}
	return v
}

// depthOf is how many arrays and objects of a JSON text are open at most.
func depthOf(data []byte) (most int) {
	open, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			inText = !inText
		case inText && c == '\\':
			i++
		case inText:
		case c == '[' || c == '{':
			open++
			most = max(most, open)
		case c == ']' || c == '}':
			open--
		}
	}
	return most
}

// Publish is a command for a shell that publishes the message again, with another id. Empty: its payload is too large for one.
func (s *sheet) Publish(m operations.Message) string {
	data, err := m.Body.Bytes()
	if err != nil || len(data) > mostLine {
		return ""
	}
	line := "postbag publish " + s.storeFlags(s.Database)
	line += " --box " + quoted(s.Box)
	flags, ok := publishFlags(&m, string(data))
	if ok {
		return line + flags
	}
	return "printf %s " + publishedLine(&m, data) + " | base64 -d | " + line + " --ndjson"
}

// publishFlags are the flags that say what a message is. Not ok: a text has signs that some shell, or a terminal, may take for more.
func publishFlags(m *operations.Message, payload string) (flags string, ok bool) {
	ok = true
	say := func(flag, value string) {
		flags += " --" + flag + " " + quoted(value)
		ok = ok && operations.Pasteable(value)
	}
	say("topic", m.Topic)
	for _, one := range [][2]string{{"key", m.Key}, {"shard-key", m.ShardKey}, {"type", m.Type}} {
		if one[1] != "" {
			say(one[0], one[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		say("header", name+"="+m.Headers[name])
		ok = ok && !strings.Contains(name, "=")
	}
	say("payload", payload)
	return flags, ok
}

// publishedLine is a message with such a payload as a line of postbag publish --ndjson, in base64.
func publishedLine(m *operations.Message, payload []byte) string {
	fields := map[string]any{"topic": m.Topic}
	for name, text := range map[string]string{"key": m.Key, "shard_key": m.ShardKey, "type": m.Type} {
		if text != "" {
			fields[name] = text
		}
	}
	if len(m.Headers) > 0 {
		fields["headers"] = m.Headers
	}
	fields["payload_base64"] = payload // byte by byte as it is
	text, err := json.Marshal(fields)
	if err != nil { // no field can fail
		return ""
	}
	return base64.StdEncoding.EncodeToString(append(text, '\n'))
}

// quoted writes the value of a flag so that a shell takes it as it is, and nobody takes it for a flag.
func quoted(text string) string {
	if text != "" && text[0] == '-' {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return operations.Quoted(text)
}
