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
)

// Page writes some messages, with headings on the first page that has any.
func Page(c *terminal.Terminal, all []operations.Message, first bool) error {
	if len(all) == 0 {
		return nil
	}
	var rows [][]string
	for i := range all {
		if c.JSON {
			if err := c.Line(&all[i]); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, messageRow(c, &all[i]))
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

func messageRow(c *terminal.Terminal, m *operations.Message) []string {
	state := string(m.State)
	if m.Queued != "" {
		state += ", " + m.Queued + " queued"
	}
	return []string{
		m.Stored.Format("2006-01-02 15:04:05.000"), m.ID.String(), m.Box, dash(m.Subscription), state,
		strconv.Itoa(m.Attempts), until(m), terminal.Short(m.Topic, 40), dash(terminal.Short(m.Key, 40)),
		dash(terminal.Short(m.Type, 40)), strconv.Itoa(m.Bytes), dash(terminal.Short(c.InWords(m.Error), 80)),
	}
}

// until is the wait of a message for people.
func until(m *operations.Message) string {
	d := operations.Seconds(m.Next)
	if d <= 0 {
		return "-"
	}
	return "in " + operations.Span(d)
}

// Message shows the copies of one message: what is the same in all once, and
// what became of it for each. Without a payload it shows none, whatever the format.
func Message(c *terminal.Terminal, all []operations.Message, format string, payload bool) error {
	first := &all[0]
	data, err := first.Body.Bytes()
	switch {
	case err != nil:
		return err
	case format == "raw":
		_, err := c.Out.Write(data)
		return err
	case c.JSON:
		return c.Emit(all)
	}
	if err := c.Table([]string{"MESSAGE", first.ID.String()}, append(facts(first), []string{"done", operations.DoneText(all)})); err != nil {
		return err
	}
	for i := range all {
		if err := fate(c, &all[i]); err != nil {
			return err
		}
	}
	if !payload {
		return nil
	}
	return payloadOf(c, data, format)
}

// facts are what is the same for all subscriptions.
func facts(m *operations.Message) [][]string {
	rows := [][]string{{"box", m.Box}}
	if m.Seq > 0 {
		rows = append(rows, []string{"seq", strconv.FormatInt(m.Seq, 10)})
	}
	rows = append(rows,
		[]string{"stored", m.Stored.Format(time.RFC3339Nano)},
		[]string{"topic", m.Topic},
		[]string{"key", dash(m.Key)},
		[]string{"type", dash(m.Type)},
	)
	if m.ShardKey != "" {
		rows = append(rows, []string{"shard key", m.ShardKey})
	}
	if m.NotBefore != nil {
		rows = append(rows, []string{"not before", m.NotBefore.Format(time.RFC3339)})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		rows = append(rows, []string{"header " + name, m.Headers[name]})
	}
	return rows
}

// fate shows what became of a message for one subscription.
func fate(c *terminal.Terminal, m *operations.Message) error {
	c.Sayf("")
	rows := [][]string{{"state", string(m.State)}}
	if m.Attempts > 0 {
		rows = append(rows, []string{"attempts", strconv.Itoa(m.Attempts)})
	}
	if m.Next > 0 {
		rows = append(rows, []string{"next", until(m)})
	}
	if m.Error != "" {
		rows = append(rows, []string{"last error", c.InWords(m.Error)})
	}
	if m.Queued != "" {
		rows = append(rows, []string{"queued", m.Queued + ", until a relay carries it out"})
	}
	for _, a := range m.History {
		rows = append(rows, []string{a.At.Format(time.RFC3339), a.State + "  " + c.InWords(a.Error)})
	}
	return c.Table([]string{"SUBSCRIPTION", dash(m.Subscription)}, rows)
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
	first := make([]operations.Message, len(p.First))
	for i := range p.First {
		first[i] = operations.MessageOf(p.Box, &p.First[i], false)
	}
	return Chosen(c, &p.Choice, first, p.Size())
}

// Chosen says what a command would be given for: so many messages, of which first are the first.
func Chosen(c *terminal.Terminal, k *operations.Choice, first []operations.Message, size int) error {
	command := operations.CommandName(k.Kind)
	if c.JSON {
		return c.Emit(map[string]any{
			"box": k.Box, "subscription": k.Subscription, "command": command, "selected": size, "dry_run": true,
		})
	}
	if err := Page(c, first, true); err != nil {
		return err
	}
	if more := size - len(first); more > 0 {
		c.Sayf("and %d more", more)
	}
	c.Sayf("%s would be given for %s of %s; nothing was done", command, terminal.Count(size, "message"), k.Ref)
	return nil
}
