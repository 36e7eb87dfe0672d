package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

// pageSize is how many messages a listing asks for at a time.
const pageSize = 500

// listOptions say how much to list, and how.
type listOptions struct {
	limit   int
	cursor  string
	oldest  bool
	payload bool
}

func newListCommand(c *console.Console) *cobra.Command {
	var f storeFlags
	var q queryFlags
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List messages, the newest first",
		Long: `List messages, the newest first. A message appears once for each subscription. With --json each is
an object on a line of its own. When there is more, the cursor to go on with is written to standard
error.`,
		Example: `  postbag messages list --store shop.db --state dead
  postbag messages list -c postbag.yaml --key 7 --after 2h --json`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			query, err := q.query(time.Now(), states())
			if err != nil {
				return err
			}
			if o.limit < 0 {
				return exit.Usagef("--limit is negative; give a number, or 0 for all")
			}
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			return list(cmd.Context(), c, s, query, o)
		},
	}
	f.add(cmd)
	q.add(cmd, "", "")
	cmd.Flags().IntVar(&o.limit, "limit", 50, "most `messages` to list; 0: all")
	cmd.Flags().StringVar(&o.cursor, "cursor", "", "go on where an earlier listing ended, with the same flags")
	cmd.Flags().BoolVar(&o.oldest, "oldest", false, "the oldest first")
	cmd.Flags().BoolVar(&o.payload, "payload", false, "with --json: payloads and headers too")
	return cmd
}

func list(ctx context.Context, c *console.Console, s store.Inspector, q store.Query, o listOptions) error {
	q.Cursor, q.Oldest = o.cursor, o.oldest
	shown := 0
	for {
		q.Limit = pageSize
		if o.limit > 0 {
			q.Limit = min(pageSize, o.limit-shown)
		}
		items, next, err := s.List(ctx, q)
		if err != nil {
			return err
		}
		if err := showPage(c, q.Box, items, shown == 0, o.payload); err != nil {
			return err
		}
		shown += len(items)
		q.Cursor = next
		if next == "" {
			break
		}
		if o.limit > 0 && shown >= o.limit {
			c.Notef("there is more: --cursor %s", next)
			break
		}
	}
	if shown > 0 {
		return nil
	}
	return noteNothing(ctx, c, s, q.Box)
}

// noteNothing says why there is nothing to see.
func noteNothing(ctx context.Context, c *console.Console, s store.Inspector, box string) error {
	o, err := look(ctx, s, box)
	if err != nil {
		return err
	}
	c.Notef("no message matches%s", unread(&o))
	return nil
}

// unread explains a box that nobody reads: its messages have no state yet.
func unread(o *store.Overview) string {
	for i := range o.Boxes {
		if b := &o.Boxes[i]; len(b.Subscriptions) == 0 && b.Last > 0 {
			return fmt.Sprintf("; box %s holds %s and has no subscription yet, which the first relay declares", b.Name,
				console.Count(b.Rows, "message"))
		}
	}
	return ""
}

// showPage writes some messages, with headings on the first page that has any.
func showPage(c *console.Console, box string, items []store.Item, first, payload bool) error {
	if len(items) == 0 {
		return nil
	}
	var rows [][]string
	for i := range items {
		item := &items[i]
		if c.JSON {
			if err := c.Line(viewOf(box, item, payload)); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, itemRow(item))
	}
	if c.JSON {
		return nil
	}
	var headings []string
	if first {
		headings = []string{
			"STORED (UTC)", "ID", "SUBSCRIPTION", "STATE", "ATTEMPTS", "NEXT", "TOPIC", "KEY", "TYPE", "BYTES", "LAST ERROR",
		}
	}
	return c.Table(headings, rows)
}

func itemRow(item *store.Item) []string {
	state := string(item.State)
	if item.Queued != 0 {
		state += ", " + orderName(item.Queued) + " queued"
	}
	return []string{
		item.At.UTC().Format("2006-01-02 15:04:05.000"), item.ID.String(), dash(item.Subscription), state,
		strconv.Itoa(item.Attempts), until(item.Due), console.Short(item.Topic, 40), dash(console.Short(item.Key, 40)),
		dash(console.Short(item.Type, 40)), strconv.Itoa(len(item.Payload)), dash(console.Short(item.Reason, 80)),
	}
}

// until is a wait for people.
func until(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return "in " + span(d)
}

// span is a length of time for people.
func span(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return fmt.Sprintf("%dms", max(d.Milliseconds(), 1))
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < 48*time.Hour:
		return strings.TrimSuffix(strings.TrimSuffix(d.Round(time.Second).String(), "0s"), "0m")
	}
	return fmt.Sprintf("%.1fd", d.Hours()/24)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
