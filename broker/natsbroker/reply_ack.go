package natsbroker

import (
	"bytes"
	"encoding/json"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// answer is what came back for one message.
type answer struct {
	kind answerKind
	copy place               // of an acknowledgement that says "duplicate"; else zero
	err  *jetstream.APIError // of a refusal
}

// place is where a stream holds a message.
type place struct {
	stream string
	seq    uint64
}

type answerKind int

const (
	// foreign: not from a stream. An ordinary subscriber answered; the stream's own
	// answer may still come.
	foreign answerKind = iota
	acknowledged
	refused
	// nobody: the server found no one to hear the message.
	nobody
)

// readAnswer takes apart a message that came to a reply subject. The forms are
// those of ADR-1 and ADR-13 of NATS: {"stream":"S","seq":1,"duplicate":true} or
// {"error":{"code":400,"err_code":10060,"description":"..."},"stream":"S","seq":0}.
func readAnswer(m *nats.Msg) answer {
	if len(m.Data) == 0 {
		if m.Header.Get("Status") == "503" {
			return answer{kind: nobody}
		}
		return answer{}
	}
	if plainAck(m.Data) {
		return answer{kind: acknowledged}
	}
	var ack struct {
		Error     *jetstream.APIError `json:"error"`
		Stream    string              `json:"stream"`
		Seq       uint64              `json:"seq"`
		Duplicate bool                `json:"duplicate"`
	}
	switch err := json.Unmarshal(m.Data, &ack); {
	case err != nil:
		return answer{}
	case ack.Error != nil:
		return answer{kind: refused, err: ack.Error}
	case ack.Stream == "" || ack.Seq == 0:
		return answer{}
	}
	if ack.Duplicate {
		return answer{kind: acknowledged, copy: place{ack.Stream, ack.Seq}}
	}
	return answer{kind: acknowledged}
}

// plainAck says whether data is an acknowledgement in the one form that servers
// write when there is nothing more to say, which is nearly always:
//
//	{"stream":"NAME","seq":123}
//
// Anything else is for the JSON decoder.
func plainAck(data []byte) bool {
	rest, ok := bytes.CutPrefix(data, []byte(`{"stream":"`))
	if !ok {
		return false
	}
	end := bytes.IndexByte(rest, '"')
	if end <= 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return false
	}
	for _, c := range rest[:end] {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	rest, ok = bytes.CutPrefix(rest[end+1:], []byte(`,"seq":`))
	if !ok || len(rest) < 2 || len(rest) > 20 || rest[0] < '1' || rest[0] > '9' {
		return false
	}
	digits := rest[:len(rest)-1]
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return rest[len(rest)-1] == '}'
}
