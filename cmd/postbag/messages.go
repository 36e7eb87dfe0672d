package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/display"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func newMessagesCommand(c *terminal.Terminal) *cobra.Command {
	return group("messages", "Look at messages, retry, discard, delete or erase them, publish them now",
		newListCommand(c), newShowCommand(c), newRetryOrDiscardCommand(c, store.Retry), newRetryOrDiscardCommand(c, store.Discard),
		newDeleteCommand(c), newPublishNowCommand(c), newEraseCommand(c))
}

// listOptions say how much to list, and how.
type listOptions struct {
	limit   int
	cursor  string
	oldest  bool
	payload bool
}

func newListCommand(c *terminal.Terminal) *cobra.Command {
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			query, err := q.query(time.Now(), operations.States())
			if err != nil {
				return err
			}
			if o.limit < 0 {
				return exit.Usagef("--limit is negative; give a number, or 0 for all")
			}
			return f.at(cmd.Context(), func(d desk) error { return list(cmd.Context(), c, d, query, o) })
		},
	}
	f.addServer(cmd)
	q.add(cmd, "", "")
	cmd.Flags().IntVar(&o.limit, "limit", 50, "most `messages` to list; 0: all")
	cmd.Flags().StringVar(&o.cursor, "cursor", "", "go on where an earlier listing ended, with the same flags")
	cmd.Flags().BoolVar(&o.oldest, "oldest", false, "the oldest first")
	cmd.Flags().BoolVar(&o.payload, "payload", false, "with --json: payloads and headers too")
	return cmd
}

func list(ctx context.Context, c *terminal.Terminal, d desk, q store.Query, o listOptions) error {
	q.Cursor, q.Oldest = o.cursor, o.oldest
	first, each := true, d.Messages
	if o.payload {
		s, is := d.(database)
		if !is {
			return exit.Usagef("--payload needs the database: a console shows the payload of one message at a time, with postbag messages show; leave it out")
		}
		each = func(ctx context.Context, q store.Query, limit int, see func([]operations.Message) error) (operations.Listing, error) {
			return s.messages(ctx, q, limit, true, see)
		}
	}
	all, err := each(ctx, q, o.limit, func(page []operations.Message) error {
		err := display.Page(c, page, first)
		first = first && len(page) == 0
		return err
	})
	if err != nil {
		return err
	}
	if all.Next != "" {
		c.Notef("there is more: --cursor %s", all.Next)
	}
	if all.Shown > 0 {
		return nil
	}
	v, err := d.Status(ctx, q.Box)
	if err == nil {
		c.Notef("no message of box %s matches%s", q.Box, v.Unread())
	}
	return err
}

func newShowCommand(c *terminal.Terminal) *cobra.Command {
	var f storeFlags
	var r refFlags
	format := "auto"
	formats := []string{"auto", "text", "json", "hex", "raw"}
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one message, with headers, payload and history",
		Long: `Show one message as each subscription has it, with headers, history and payload. It is done when all
subscriptions are: each has delivered, discarded, superseded or filtered it. The payload is shown as JSON, text or hexadecimal, whichever fits; --format raw writes its bytes and nothing else.`,
		Args: exactly("the id of a message"),
		RunE: func(cmd *cobra.Command, args []string) error {
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
			return f.at(cmd.Context(), func(d desk) error { return show(cmd.Context(), c, d, ref, id, format) })
		},
	}
	f.addServer(cmd)
	r.add(cmd, "")
	cmd.Flags().StringVar(&format, "format", "auto", "how to show the payload: `auto`, text, json, hex or raw")
	_ = cmd.RegisterFlagCompletionFunc("format", words(formats...)) // the flag is there
	return cmd
}

// show shows one message. What a console does not show of it goes to standard error; who asks for the bytes alone gets all or nothing.
func show(ctx context.Context, c *terminal.Terminal, d desk, ref store.Ref, id postbag.ID, format string) error {
	all, hidden, err := d.Message(ctx, ref, id)
	switch {
	case err != nil:
		return err
	case len(hidden) > 0 && format == "raw":
		return exit.With(exit.Failed, fmt.Errorf("the console does not show all of it: %s; nothing is written", strings.Join(hidden, " and ")))
	}
	for _, what := range hidden {
		c.Notef("the console does not show %s", what)
	}
	return display.Message(c, all, format, len(hidden) == 0 || len(all[0].Payload) > 0 || all[0].Base64 != nil)
}

func newEraseCommand(c *terminal.Terminal) *cobra.Command {
	var f editFlags
	cmd := &cobra.Command{
		Use:   "erase ID ...",
		Short: "Overwrite payload, headers and key of messages that were delivered",
		Long: `Overwrite payload, headers and key of messages with nothing, to erase personal data. Ids, topics
and types stay, and so do the order of the log and the ledger. A message that a subscription has
still to deliver is not erased: discard it first. No replay sends an erased message again.
Backups keep their copies, and so do the destinations. The audit log records who erased what,
and why.`,
		Example: `  postbag messages erase 01234567-89ab-7cde-8f01-23456789abcd -c postbag.yaml --why "request 4711"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := idsOf(args)
			if err != nil {
				return err
			}
			return f.edit(cmd.Context(), func(s operations.Store, a store.Audit) error {
				return erase(cmd.Context(), c, s, a, f.box, ids)
			})
		},
	}
	f.add(cmd)
	return cmd
}

// idsOf reads the ids that arguments are.
func idsOf(args []string) ([]postbag.ID, error) {
	if len(args) == 0 || len(args) > operations.MaxErase {
		return nil, exit.Usagef("%d messages are named; name 1 to %d ids", len(args), operations.MaxErase)
	}
	var ids []postbag.ID
	for _, text := range args {
		id, err := messageID("an argument", text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func erase(ctx context.Context, c *terminal.Terminal, s operations.Store, a store.Audit, box string, ids []postbag.ID) error {
	got, err := s.Erase(ctx, a, box, ids)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := c.Emit(got); err != nil {
			return err
		}
	} else {
		c.Sayf("erased %s of box %s", terminal.Count(got.Erased, "message"), box)
	}
	return got.Err()
}
