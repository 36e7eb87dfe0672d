package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/ndjson"
	"github.com/postbag/postbag/internal/operations"
)

// publishFlags describe one message, or say that messages come as lines.
type publishFlags struct {
	store                    storeFlags
	box                      string
	id, topic, key, shardKey string
	typ                      string
	headers                  []string
	payload, payloadFile     string
	notBefore                string
	lines                    bool
	skip                     int
}

func newPublishCommand(c *terminal.Terminal) *cobra.Command {
	var f publishFlags
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Publish one message, or many as lines of JSON",
		Long: `Publish one message. Its payload is --payload, or the bytes of --payload-file or of standard input.
With --ndjson publish many, one JSON object per line of standard input:

  {"topic": "orders", "key": "7", "type": "order.created", "headers": {"a": "b"}, "payload": {"id": 7}}

"payload" is a text, or any other JSON value, which is sent as it is written. For other bytes use
"payload_base64". "id", "shard_key" and "not_before" may be there too. Lines are written in transactions
of up to 1,000. If a line is wrong, or has a field or a header twice, the error names it. Nothing of
its transaction is written, and nothing after it. --skip goes on after what was written.`,
		Example: `  postbag publish --store-env DATABASE_URL --topic orders --key 7 --payload '{"id": 7}'
  postbag publish --store shop.db --ndjson < messages.ndjson`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd, c)
		},
	}
	f.store.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.box, "box", defaultBox, "`name` of the box")
	flags.StringVar(&f.id, "id", "", "the message's id, a `UUID`; drawn when left out")
	flags.StringVar(&f.topic, "topic", "", "`topic`; the name of the box when left out")
	flags.StringVar(&f.key, "key", "", "`key`: messages of one key keep their order")
	flags.StringVar(&f.shardKey, "shard-key", "", "`text` that decides the shard in place of the key")
	flags.StringVar(&f.typ, "type", "", "`type`, such as order.created")
	flags.StringArrayVar(&f.headers, "header", nil, "a header as `name=value`; may be repeated")
	flags.StringVar(&f.payload, "payload", "", "the payload as `text`")
	flags.StringVar(&f.payloadFile, "payload-file", "", "`file` that holds the payload")
	flags.StringVar(&f.notBefore, "not-before", "", "deliver at this `time` or after this span, such as 2026-01-31T12:00:00Z or 10m")
	flags.BoolVar(&f.lines, "ndjson", false, "read messages from standard input, one JSON object a line")
	flags.IntVar(&f.skip, "skip", 0, "with --ndjson: skip so many `lines` first")
	return cmd
}

func (f *publishFlags) run(cmd *cobra.Command, c *terminal.Terminal) (err error) {
	if err := boxName(f.box); err != nil {
		return err
	}
	if err := f.fit(cmd); err != nil {
		return err
	}
	var m postbag.Message
	if !f.lines {
		if m, err = f.message(cmd, c); err != nil {
			return err
		}
	}
	s, err := f.store.open(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if f.lines {
		return publishLines(cmd.Context(), c, s, f.box, f.skip)
	}
	return publishOne(cmd.Context(), c, s, f.box, m)
}

// fit refuses flags that do not go together.
func (f *publishFlags) fit(cmd *cobra.Command) error {
	if !f.lines {
		if f.skip != 0 {
			return exit.Usagef("--skip is for --ndjson; leave it out")
		}
		return nil
	}
	if f.skip < 0 {
		return exit.Usagef("--skip is negative; give the number of lines to skip")
	}
	for _, name := range changed(cmd) {
		switch name {
		case "id", "topic", "key", "shard-key", "type", "header", "payload", "payload-file", "not-before":
			return exit.Usagef("--%s cannot go with --ndjson; say it in each line", name)
		}
	}
	return nil
}

// message makes the message that the flags describe.
func (f *publishFlags) message(cmd *cobra.Command, c *terminal.Terminal) (postbag.Message, error) {
	m := postbag.Message{ID: postbag.NewID(), Topic: f.topic, Key: f.key, ShardKey: f.shardKey, Type: f.typ}
	if f.id != "" {
		id, err := postbag.ParseID(f.id)
		if err != nil || id.IsZero() {
			return m, exit.Usagef("--id is no UUID, or zero; leave it out to have one drawn")
		}
		m.ID = id
	}
	for _, text := range f.headers {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return m, exit.Usagef("a --header has no name or no equals sign; write it as name=value")
		}
		if m.Headers == nil {
			m.Headers = make(map[string]string)
		}
		if _, twice := m.Headers[name]; twice {
			return m, exit.Usagef("a --header is given twice; keep one of a name")
		}
		m.Headers[name] = value
	}
	if f.notBefore != "" {
		at, err := moment("not-before", f.notBefore, time.Now(), +1)
		if err != nil {
			return m, err
		}
		m.NotBefore = at
	}
	payload, err := f.readPayload(cmd, c)
	m.Payload = payload
	return m, err
}

// readPayload reads the payload from where the flags say.
func (f *publishFlags) readPayload(cmd *cobra.Command, c *terminal.Terminal) ([]byte, error) {
	inline, file := cmd.Flags().Changed("payload"), f.payloadFile != ""
	switch {
	case inline && file:
		return nil, exit.Usagef("--payload and --payload-file are both given; keep one")
	case inline:
		return []byte(f.payload), nil
	case !file:
		if terminal.IsTerminal(c.In) {
			c.Notef("reading the payload from standard input; end it with Ctrl-D")
		}
		return readAll("standard input", c.In)
	}
	in, err := os.Open(f.payloadFile)
	if err != nil {
		return nil, exit.Usagef("--payload-file cannot be read: %w; name a file that exists and that this user may read", err)
	}
	defer func() { _ = in.Close() }()
	return readAll("the payload's file", in)
}

func readAll(what string, in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, postbag.MaxPayload+1))
	if err != nil {
		return nil, exit.Usagef("%s cannot be read: %w; give another", what, err)
	}
	if len(data) > postbag.MaxPayload {
		return nil, exit.Usagef("%s holds more than %d bytes; publish a reference to what is that large", what, postbag.MaxPayload)
	}
	return data, nil
}

func publishOne(ctx context.Context, c *terminal.Terminal, s *component.Store, box string, m postbag.Message) error {
	if err := s.Publish(ctx, box, []postbag.Message{m}); err != nil {
		return fmt.Errorf("publish: nothing was written: %w", err)
	}
	if c.JSON {
		return c.Line(map[string]any{"id": m.ID, "box": box})
	}
	c.Sayf("%s", m.ID)
	return nil
}

// publishLines writes what comes on standard input, and says at the end, and after
// a mistake, how much of it.
func publishLines(ctx context.Context, c *terminal.Terminal, s *component.Store, box string, skip int) error {
	in := ndjson.NewReader(c.In)
	if err := in.Skip(skip); err != nil && !errors.Is(err, io.EOF) {
		return exit.Usagef("publish: standard input cannot be read: %w", err)
	}
	progress := c.Progress("published", 0)
	published, err := operations.Appender(s.Publish).Lines(ctx, box, in, progress.Add)
	progress.End()
	if err != nil {
		c.Notef("published until then: %s", terminal.Count(published, "message"))
		return unwritten(err)
	}
	if c.JSON {
		return c.Line(map[string]any{"published": published, "box": box})
	}
	c.Sayf("published %s", terminal.Count(published, "message"))
	return nil
}

// unwritten says of which lines nothing was written, and how to go on.
func unwritten(err error) error {
	b, ok := errors.AsType[*operations.BatchError](err)
	switch {
	case !ok:
		return err
	case b.Unread:
		return exit.Usagef("publish: standard input cannot be read: %w; go on with --skip %d", b.Err, b.First-1)
	case b.Faulty > 0:
		what := fmt.Errorf("publish: nothing of lines %d to %d was written, for %d of them are wrong; fix them and go on with --skip %d",
			b.First, b.Last, b.Faulty, b.First-1)
		return exit.With(exit.Usage, errors.Join(append([]error{what}, b.Faults...)...))
	case errors.Is(b.Err, postbag.ErrCommitUnknown):
		return fmt.Errorf("publish: lines %d to %d may be written or not; look with postbag messages list before you repeat them: %w",
			b.First, b.Last, b.Err)
	}
	return fmt.Errorf("publish: nothing of lines %d to %d was written; go on with --skip %d when it is fixed: %w",
		b.First, b.Last, b.First-1, b.Err)
}
