package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

func newShowCommand(c *console.Console) *cobra.Command {
	var f storeFlags
	var r refFlags
	format := "auto"
	formats := []string{"auto", "text", "json", "hex", "raw"}
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one message, with headers, payload and history",
		Long: `Show one message as each subscription has it, with headers, history and payload. The payload is
shown as JSON, text or hexadecimal, whichever fits; --format raw writes its bytes and nothing else.`,
		Args: exactly("the id of a message"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ref, err := r.ref()
			if err != nil {
				return err
			}
			id, err := messageID("the argument", args[0])
			if err != nil {
				return err
			}
			if !slices.Contains(formats, format) {
				return exit.Usagef("--format is not one of %v; choose one", formats)
			}
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			items, err := s.Show(cmd.Context(), ref.Box, id)
			if err != nil {
				return err
			}
			items = slices.DeleteFunc(items, func(i store.Item) bool {
				return ref.Subscription != "" && i.Subscription != "" && i.Subscription != ref.Subscription
			})
			if len(items) == 0 {
				return noSuchMessage(cmd.Context(), s, ref, id)
			}
			return showItems(c, ref.Box, items, format)
		},
	}
	f.add(cmd)
	r.add(cmd, "")
	cmd.Flags().StringVar(&format, "format", "auto", "how to show the payload: `auto`, text, json, hex or raw")
	_ = cmd.RegisterFlagCompletionFunc("format", words(formats...)) // the flag is there
	return cmd
}

func noSuchMessage(ctx context.Context, s store.Inspector, ref store.Ref, id postbag.ID) error {
	o, err := look(ctx, s, ref.Box)
	if err != nil {
		return err
	}
	return exit.With(exit.NotFound, fmt.Errorf("box %s shows no message %s; it may have been dropped after every subscription "+
		"had passed it%s", ref.Box, id, unread(&o)))
}

// showItems shows the copies of one message: what is the same in all once, and
// what became of it for each.
func showItems(c *console.Console, box string, items []store.Item, format string) error {
	first := &items[0]
	switch {
	case format == "raw":
		_, err := c.Out.Write(first.Payload)
		return err
	case c.JSON:
		views := make([]itemView, 0, len(items))
		for i := range items {
			views = append(views, viewOf(box, &items[i], true))
		}
		return c.Emit(views)
	}
	if err := c.Table([]string{"MESSAGE", first.ID.String()}, facts(box, first)); err != nil {
		return err
	}
	for i := range items {
		if err := showFate(c, &items[i]); err != nil {
			return err
		}
	}
	return showPayload(c, first.Payload, format)
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

// showFate shows what became of a message for one subscription.
func showFate(c *console.Console, item *store.Item) error {
	c.Sayf("")
	rows := [][]string{{"state", string(item.State)}}
	if item.Attempts > 0 {
		rows = append(rows, []string{"attempts", strconv.Itoa(item.Attempts)})
	}
	if item.Due > 0 {
		rows = append(rows, []string{"next", until(item.Due)})
	}
	if item.Reason != "" {
		rows = append(rows, []string{"last error", item.Reason})
	}
	if item.Queued != 0 {
		rows = append(rows, []string{"queued", orderName(item.Queued) + ", until a relay carries it out"})
	}
	for _, a := range item.History {
		rows = append(rows, []string{a.At.UTC().Format(time.RFC3339), a.State.String() + "  " + a.Reason})
	}
	return c.Table([]string{"SUBSCRIPTION", dash(item.Subscription)}, rows)
}

// showPayload shows a payload as people can read it.
func showPayload(c *console.Console, payload []byte, format string) error {
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
	c.Sayf("\nPAYLOAD  %s, as %s", console.Count(len(payload), "byte"), format)
	switch format {
	case "json":
		c.Sayf("%s", console.PrintableText(pretty.String()))
	case "text":
		c.Sayf("%s", console.PrintableText(string(payload)))
	case "hex":
		_, _ = fmt.Fprint(c.Out, hex.Dump(payload))
	}
	return nil
}
