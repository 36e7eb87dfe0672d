package display

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Page writes some messages, with headings on the first page that has any.
func Page(c *terminal.Terminal, box string, items []store.Item, first, payload bool) error {
	if len(items) == 0 {
		return nil
	}
	var rows [][]string
	for i := range items {
		item := &items[i]
		if c.JSON {
			if err := c.Line(operations.MessageOf(box, item, payload)); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, itemRow(c, box, item))
	}
	if c.JSON {
		return nil
	}
	var headings []string
	if first {
		headings = []string{
			"STORED (UTC)", "ID", "BOX", "SUBSCRIPTION", "STATE", "ATTEMPTS", "NEXT", "TOPIC", "KEY", "TYPE", "BYTES", "LAST ERROR",
		}
	}
	return c.Table(headings, rows)
}

func itemRow(c *terminal.Terminal, box string, item *store.Item) []string {
	state := string(item.State)
	if item.Queued != 0 {
		state += ", " + operations.CommandName(item.Queued) + " queued"
	}
	return []string{
		item.At.UTC().Format("2006-01-02 15:04:05.000"), item.ID.String(), box, dash(item.Subscription), state,
		strconv.Itoa(item.Attempts), until(item.Due), terminal.Short(item.Topic, 40), dash(terminal.Short(item.Key, 40)),
		dash(terminal.Short(item.Type, 40)), strconv.Itoa(len(item.Payload)), dash(terminal.Short(c.InWords(item.Reason), 80)),
	}
}

// until is a wait for people.
func until(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return "in " + operations.Span(d)
}

// Message shows the copies of one message: what is the same in all once, and
// what became of it for each.
func Message(c *terminal.Terminal, box string, items []store.Item, format string) error {
	first := &items[0]
	switch {
	case format == "raw":
		_, err := c.Out.Write(first.Payload)
		return err
	case c.JSON:
		views := make([]operations.Message, 0, len(items))
		for i := range items {
			views = append(views, operations.MessageOf(box, &items[i], true))
		}
		return c.Emit(views)
	}
	if err := c.Table([]string{"MESSAGE", first.ID.String()}, append(facts(box, first), []string{"done", operations.DoneText(items)})); err != nil {
		return err
	}
	for i := range items {
		if err := fate(c, &items[i]); err != nil {
			return err
		}
	}
	return payloadOf(c, first.Payload, format)
}

// facts are what is the same for all subscriptions.
func facts(box string, m *store.Item) [][]string {
	rows := [][]string{{"box", box}}
	if m.Seq > 0 {
		rows = append(rows, []string{"seq", strconv.FormatInt(m.Seq, 10)})
	}
	rows = append(rows,
		[]string{"stored", m.At.UTC().Format(time.RFC3339Nano)},
		[]string{"topic", m.Topic},
		[]string{"key", dash(m.Key)},
		[]string{"type", dash(m.Type)},
	)
	if m.ShardKey != "" {
		rows = append(rows, []string{"shard key", m.ShardKey})
	}
	if !m.NotBefore.IsZero() {
		rows = append(rows, []string{"not before", m.NotBefore.UTC().Format(time.RFC3339)})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		rows = append(rows, []string{"header " + name, m.Headers[name]})
	}
	return rows
}

// fate shows what became of a message for one subscription.
func fate(c *terminal.Terminal, item *store.Item) error {
	c.Sayf("")
	rows := [][]string{{"state", string(item.State)}}
	if item.Attempts > 0 {
		rows = append(rows, []string{"attempts", strconv.Itoa(item.Attempts)})
	}
	if item.Due > 0 {
		rows = append(rows, []string{"next", until(item.Due)})
	}
	if item.Reason != "" {
		rows = append(rows, []string{"last error", c.InWords(item.Reason)})
	}
	if item.Queued != 0 {
		rows = append(rows, []string{"queued", operations.CommandName(item.Queued) + ", until a relay carries it out"})
	}
	for _, a := range item.History {
		rows = append(rows, []string{a.At.UTC().Format(time.RFC3339), a.State.String() + "  " + c.InWords(a.Reason)})
	}
	return c.Table([]string{"SUBSCRIPTION", dash(item.Subscription)}, rows)
}

// payloadOf shows a payload as people can read it.
func payloadOf(c *terminal.Terminal, payload []byte, format string) error {
	var pretty bytes.Buffer
	isJSON := json.Indent(&pretty, payload, "", "  ") == nil
	if format == "json" && !isJSON {
		return exit.Usagef("the payload is no JSON; use --format text or hex")
	}
	if format == "auto" {
		switch {
		case isJSON:
			format = "json"
		case utf8.Valid(payload):
			format = "text"
		default:
			format = "hex"
		}
	}
	c.Sayf("\nPAYLOAD  %s, as %s", terminal.Count(len(payload), "byte"), format)
	switch format {
	case "json":
		c.Sayf("%s", terminal.PrintableText(pretty.String()))
	case "text":
		c.Sayf("%s", terminal.PrintableText(string(payload)))
	case "hex":
		_, _ = fmt.Fprint(c.Out, hex.Dump(payload))
	}
	return nil
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Preview says what a command would be given for.
func Preview(c *terminal.Terminal, p *operations.Preview) error {
	command := operations.CommandName(p.Kind)
	if c.JSON {
		return c.Emit(map[string]any{
			"box": p.Box, "subscription": p.Subscription, "command": command, "selected": p.Size(), "dry_run": true,
		})
	}
	if err := Page(c, p.Box, p.First, true, false); err != nil {
		return err
	}
	if more := p.Size() - len(p.First); more > 0 {
		c.Sayf("and %d more", more)
	}
	c.Sayf("%s would be given for %s of %s; nothing was done", command, terminal.Count(p.Size(), "message"), p.Ref)
	return nil
}
