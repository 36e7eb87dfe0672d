package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// arrived drains the box at path to standard output and returns what came.
func arrived(t *testing.T, path string, args ...string) []line {
	t.Helper()
	o := cli(t, append([]string{"relay", "--store", path, "--to", "stdout:", "--drain"}, args...)...).ok()
	var out []line
	for d := json.NewDecoder(strings.NewReader(o.out)); d.More(); {
		var l line
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// line is a message as the stdout destination writes it.
type line struct {
	ID      string            `json:"id"`
	Topic   string            `json:"topic"`
	Key     string            `json:"key"`
	Type    string            `json:"type"`
	Headers map[string]string `json:"headers"`
	Payload string            `json:"payload"`
	Base64  []byte            `json:"payload_base64"`
}

func TestPublishedMessageArrivesWithAllItsParts(t *testing.T) {
	t.Parallel()
	path := newStore(t)
	id := postbag.NewID().String()
	cli(t, "publish", "--store", path, "--id", id, "--topic", "orders", "--key", "7", "--shard-key", "s", "--type", "order.created",
		"--header", "tenant=acme", "--header", "eq=a=b", "--payload", `{"id": 7}`).ok().says(id)
	got := arrived(t, path)
	if len(got) != 1 {
		t.Fatalf("%d messages came, want 1", len(got))
	}
	m := got[0]
	if m.ID != id || m.Topic != "orders" || m.Key != "7" || m.Type != "order.created" || m.Payload != `{"id": 7}` ||
		m.Headers["tenant"] != "acme" || m.Headers["eq"] != "a=b" {
		t.Errorf("what came is %+v", m)
	}
	cli(t, "publish", "--store", path, "--id", "nothing", "--payload", "x").ends(exit.Usage, "no UUID")
}

func TestPayloadComesFromFlagFileOrStandardInput(t *testing.T) {
	t.Parallel()
	path := newStore(t)
	bytes := "\x00\xff any bytes\n"
	cli(t, "publish", "--store", path, "--payload", "").ok()
	cli(t, "publish", "--store", path, "--payload-file", write(t, "payload", bytes)).ok()
	cliWith(t, bytes, "publish", "--store", path).ok()
	got := arrived(t, path)
	if len(got) != 3 || got[0].Payload != "" || string(got[1].Base64) != bytes || string(got[2].Base64) != bytes {
		t.Errorf("what came is %+v", got)
	}
}

func TestLinesArePublishedInOrderOfTheirKeys(t *testing.T) {
	t.Parallel()
	path := newStore(t)
	var in strings.Builder
	const n, keys = 2500, 7
	for i := range n {
		fmt.Fprintf(&in, `{"key":"k%d","payload":{"n":%d}}`+"\n", i%keys, i)
	}
	cliWith(t, in.String(), "publish", "--store", path, "--ndjson").ok().says("published 2500 messages")
	got := arrived(t, path)
	if len(got) != n {
		t.Fatalf("%d messages came, want %d", len(got), n)
	}
	last := make(map[string]int)
	for _, m := range got {
		var p struct{ N int }
		if err := json.Unmarshal([]byte(m.Payload), &p); err != nil {
			t.Fatal(err)
		}
		if before, ok := last[m.Key]; ok && p.N <= before {
			t.Errorf("key %s: %d came after %d", m.Key, p.N, before)
		}
		last[m.Key] = p.N
	}
}

func TestWrongLineStopsItsTransactionAndSkipGoesOn(t *testing.T) {
	t.Parallel()
	path := newStore(t)
	lines := make([]string, 2100)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"payload":%d}`, i+1)
	}
	lines[1041] = `{"payload":` // line 1042
	lines[1999] = `{"topic":"` + strings.Repeat("x", 300) + `"}`
	in := strings.Join(lines, "\n")
	cliWith(t, in, "publish", "--store", path, "--ndjson").ends(exit.Usage,
		"1000 messages were published", "nothing of lines 1001 to 2000 was written", "line 1042 ends in the middle", "--skip 1000")
	lines[1041] = `{}`
	in = strings.Join(lines, "\n")
	cliWith(t, in, "publish", "--store", path, "--ndjson", "--skip", "1000").ends(exit.Usage,
		"0 messages were published", "line 2000 is wrong: Topic holds 300 bytes")
	lines[1999] = `{}`
	var done struct{ Published int }
	cliWith(t, strings.Join(lines, "\n"), "publish", "--store", path, "--ndjson", "--skip", "1000", "--json").ok().json(&done)
	if got := arrived(t, path); done.Published != 1100 || len(got) != 2100 {
		t.Errorf("%d messages came, %d of them in the last run, want 2100 and 1100", len(got), done.Published)
	}
}

func TestScheduledMessageWaitsForItsTime(t *testing.T) {
	t.Parallel()
	path := newStore(t)
	cli(t, "publish", "--store", path, "--payload", "later", "--not-before", "1h").ok()
	cli(t, "publish", "--store", path, "--payload", "now", "--not-before", "2001-01-01T00:00:00Z").ok()
	if got := arrived(t, path); len(got) != 1 || got[0].Payload != "now" {
		t.Errorf("what came is %+v, want the message that was due", got)
	}
	items := cli(t, "messages", "list", "--store", path, "--state", "scheduled", "--json", "--payload").ok().items()
	if len(items) != 1 || string(items[0].Payload) != `"later"` || items[0].NotBefore == nil {
		t.Errorf("scheduled are %+v", items)
	}
}
