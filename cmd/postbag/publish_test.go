package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// arrived drains the box outbox to standard output and returns what came.
func arrived(t *testing.T, at *place, args ...string) []line {
	t.Helper()
	o := cli(t, append([]string{"relay", at.flag, at.where, "--to", "stdout:", "--drain"}, args...)...).ok()
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
	onEachStore(t, func(t *testing.T, at *place) {
		id := postbag.NewID().String()
		cli(t, "publish", at.flag, at.where, "--id", id, "--topic", "orders", "--key", "7", "--shard-key", "s", "--type", "order.created",
			"--header", "tenant=acme", "--header", "eq=a=b", "--payload", `{"id": 7}`).ok().says(id)
		got := arrived(t, at)
		if len(got) != 1 {
			t.Fatalf("%d messages came, want 1", len(got))
		}
		m := got[0]
		if m.ID != id || m.Topic != "orders" || m.Key != "7" || m.Type != "order.created" || m.Payload != `{"id": 7}` ||
			m.Headers["tenant"] != "acme" || m.Headers["eq"] != "a=b" {
			t.Errorf("what came is %+v", m)
		}
		cli(t, "publish", at.flag, at.where, "--id", "nothing", "--payload", "x").ends(exit.Usage, "no UUID")
	})
}

func TestPayloadComesFromFlagFileOrStandardInput(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		bytes := "\x00\xff any bytes\n"
		cli(t, "publish", at.flag, at.where, "--topic", "none", "--payload", "").ok()
		cli(t, "publish", at.flag, at.where, "--topic", "file", "--payload-file", write(t, "payload", bytes)).ok()
		cliWith(t, bytes, "publish", at.flag, at.where, "--topic", "input").ok()
		got := make(map[string]string)
		for _, m := range arrived(t, at) {
			got[m.Topic] = m.Payload + string(m.Base64)
		}
		if want := map[string]string{"none": "", "file": bytes, "input": bytes}; !maps.Equal(got, want) {
			t.Errorf("what came is %q, want %q", got, want)
		}
	})
}

func TestLinesOfAKeyArePublishedInOrder(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		var in strings.Builder
		const n, keys = 2500, 7
		for i := range n {
			fmt.Fprintf(&in, `{"key":"k%d","payload":{"n":%d}}`+"\n", i%keys, i)
		}
		cliWith(t, in.String(), "publish", at.flag, at.where, "--ndjson").ok().says("published 2500 messages")
		got := arrived(t, at)
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
	})
}

func TestABadLineRollsBackItsTransactionUnlessSkipped(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		lines := make([]string, 2100)
		for i := range lines {
			lines[i] = fmt.Sprintf(`{"payload":%d}`, i+1)
		}
		lines[1041] = `{"payload":` // line 1042
		lines[1999] = `{"topic":"` + strings.Repeat("x", 300) + `"}`
		in := strings.Join(lines, "\n")
		cliWith(t, in, "publish", at.flag, at.where, "--ndjson").ends(exit.Usage,
			"published until then: 1000 messages", "nothing of lines 1001 to 2000 was written", "line 1042 ends in the middle", "--skip 1000")
		lines[1041] = `{}`
		in = strings.Join(lines, "\n")
		cliWith(t, in, "publish", at.flag, at.where, "--ndjson", "--skip", "1000").ends(exit.Usage,
			"published until then: 0 messages", "line 2000 is wrong: Topic holds 300 bytes")
		lines[1999] = `{}`
		var done struct{ Published int }
		cliWith(t, strings.Join(lines, "\n"), "publish", at.flag, at.where, "--ndjson", "--skip", "1000", "--json").ok().json(&done)
		if got := arrived(t, at); done.Published != 1100 || len(got) != 2100 {
			t.Errorf("%d messages came, %d of them in the last run, want 2100 and 1100", len(got), done.Published)
		}
	})
}

func TestScheduledMessageWaitsForItsTime(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "publish", at.flag, at.where, "--payload", "later", "--not-before", "1h").ok()
		cli(t, "publish", at.flag, at.where, "--payload", "now", "--not-before", "2001-01-01T00:00:00Z").ok()
		if got := arrived(t, at); len(got) != 1 || got[0].Payload != "now" {
			t.Errorf("what came is %+v, want the message that was due", got)
		}
		items := cli(t, "messages", "list", at.flag, at.where, "--state", "scheduled", "--json", "--payload").ok().items()
		if len(items) != 1 || string(items[0].Payload) != `"later"` || items[0].NotBefore == nil {
			t.Errorf("scheduled are %+v", items)
		}
	})
}
