package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/adopt"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/store"
)

// adoptFlags say which table becomes which box, and how.
type adoptFlags struct {
	store        storeFlags
	options      adopt.Options
	mode, fate   string
	columns      []string
	dryRun, undo bool
}

func newAdoptCommand(c *terminal.Terminal) *cobra.Command {
	var f adoptFlags
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "Turn another outbox's table into a box",
		Long: `Turn the outbox table of another program, in the database of the store, into a box. --from says
whose table it is: debezium, sbmt-outbox, velmie, go-outbox or watermill.

  import   move the undelivered rows, once, in the original's order
  trigger  import, and make a trigger: each row that old code still inserts enters the box too
  view     import, and put a view in the table's place: what is inserted enters the box only

Stop the original's own relay first, or both deliver. Each transaction moves rows and records which.
If an adoption was ended, run it again: it goes on where it was, and never imports a row twice. A row
that cannot be converted is named, and the later rows of its key wait for it. Correct it, or skip it
with --skip, and run this again. A trigger or a view is made only when no row waits. Writers of the
table then wait for the moment that it takes to import the last rows. docs/guides/adopt.md has all
steps for each original.`,
		Example: `  postbag adopt --store-env DATABASE_URL --from sbmt-outbox --table order_outbox_items --dry-run
  postbag adopt --store-env DATABASE_URL --from debezium --table outbox --mode trigger --where false
  postbag adopt --store-env DATABASE_URL --from debezium --table outbox --undo`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), c) },
	}
	f.store.add(cmd)
	f.add(cmd)
	return cmd
}

func (f *adoptFlags) add(cmd *cobra.Command) {
	flags, o := cmd.Flags(), &f.options
	flags.StringVar(&o.From, "from", "", "whose `table` it is: "+strings.Join(adopt.Names(), ", ")+"; required")
	flags.StringVar(&o.Table, "table", "", "`name` of the table, with its schema if that is not searched; required")
	flags.StringVar(&o.Box, "box", defaultBox, "`name` of the box")
	flags.StringVar(&f.mode, "mode", string(adopt.Import), "`mode`: import, trigger or view")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	flags.BoolVar(&f.undo, "undo", false, "take the trigger or the view away")
	flags.StringArrayVar(&f.columns, "column", nil, "`part=column`, where a column goes by another name; the part is id, topic, key, type, headers, "+
		"payload or order; topic, key, type and headers may be a member of a JSON column, such as key=metadata.customer; may be repeated")
	flags.StringVar(&o.Topic, "topic", adopt.TopicHere, "`topic` of all messages; "+adopt.TopicHere+" in it stands for what the row says")
	flags.StringVar(&o.Key, "key", "", "`key` of all messages, where the table has none")
	flags.StringVar(&o.Where, "where", "", "`condition` in SQL on the rows to import")
	flags.BoolVar(&o.All, "all", false, "import all rows of a table that does not say which are undelivered")
	flags.BoolVar(&o.Dead, "with-dead", false, "import what the original gave up, too")
	flags.StringVar(&o.Group, "group", "", "watermill's consumer `group`, whose offset says what is undelivered")
	flags.StringVar(&o.Offsets, "offsets", "", "watermill's `table` of offsets, if its name is not the usual one")
	flags.StringVar(&f.fate, "originals", string(adopt.Leave), "what becomes of imported `rows`: leave, mark (as delivered) or delete")
	flags.StringArrayVar(&o.Skip, "skip", nil, "skip this `row`, by the name that an error has for it; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("from", words(adopt.Names()...)) // the flags are there
	_ = cmd.RegisterFlagCompletionFunc("mode", words("import", "trigger", "view"))
	_ = cmd.RegisterFlagCompletionFunc("originals", words("leave", "mark", "delete"))
}

func (f *adoptFlags) run(ctx context.Context, c *terminal.Terminal) (err error) {
	if err := f.parse(); err != nil {
		return err
	}
	s, err := f.store.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.Adopt == nil {
		return exit.Usagef("adopt: a store of kind %s holds no table of another outbox; name the database where that is, which gets the box", s.Kind)
	}
	err = f.do(ctx, c, s)
	if wrong, ok := errors.AsType[*adopt.InputError](err); ok {
		return exit.With(exit.Usage, wrong)
	}
	return err
}

func (f *adoptFlags) do(ctx context.Context, c *terminal.Terminal, s *component.Store) error {
	t, err := s.Adopt.Describe(ctx, f.options.Table)
	if err != nil {
		return err
	}
	o := f.options
	if o.Slots, err = f.rule(ctx, s); err != nil {
		return err
	}
	p, err := adopt.NewPlan(t, o)
	if err != nil {
		return err
	}
	switch {
	case f.dryRun:
		return f.preview(ctx, c, s, p)
	case f.undo:
		return f.takeAway(ctx, c, s, p)
	}
	return f.adopt(ctx, c, s, p)
}

// rule returns the rule for the slots of the box. Who may not read it can import: the box
// itself refuses what it does not take.
func (f *adoptFlags) rule(ctx context.Context, s *component.Store) (store.SlotRule, error) {
	by, err := s.Migrator.SlotRule(ctx, f.options.Box)
	switch {
	case errors.Is(err, store.ErrNoBox): // the check says it
		return "", nil
	case errors.Is(err, store.ErrDenied) && (f.undo || f.options.Mode == adopt.Import):
		return "", nil
	}
	return by, err
}

// parse checks what the flags say by themselves.
func (f *adoptFlags) parse() error {
	o := &f.options
	o.Mode, o.Originals = adopt.Mode(f.mode), adopt.Fate(f.fate)
	var errs []error
	for _, text := range f.columns {
		part, column, ok := strings.Cut(text, "=")
		if !ok || part == "" || column == "" {
			errs = append(errs, errors.New("a --column has no part or no column; write it as part=column"))
			continue
		}
		if o.Columns == nil {
			o.Columns = make(map[adopt.Role]adopt.Source)
		}
		source := adopt.Source{Column: column}
		if name, member, dotted := strings.Cut(column, "."); dotted {
			source = adopt.Source{Column: name, Member: member}
		}
		o.Columns[adopt.Role(part)] = source
	}
	if f.dryRun && f.undo {
		errs = append(errs, errors.New("--dry-run and --undo are both given; keep one"))
	}
	o.Undo = f.undo
	return exit.With(exit.Usage, errors.Join(append(errs, o.Validate())...))
}

// adopted is what was done, in JSON.
type adopted struct {
	From  string     `json:"from"`
	Table string     `json:"table"`
	Box   string     `json:"box"`
	Mode  adopt.Mode `json:"mode"`

	adopt.Result

	// HeldMillis is how long writers of the table were held off.
	HeldMillis int64 `json:"held_ms"`
}

func (f *adoptFlags) adopt(ctx context.Context, c *terminal.Terminal, s *component.Store, p *adopt.Plan) error {
	var progress *terminal.Progress
	end := func() {
		if progress != nil {
			progress.End()
			progress = nil
		}
	}
	res, err := adopt.Do(ctx, s.Adopt, p, adopt.Watch{
		Total: func(rows int) { end(); progress = c.Progress("imported", rows) },
		Moved: func(rows int) { progress.Add(rows) },
		Note:  func(text string) { c.Notef("%s", text) },
	})
	end()
	if err != nil {
		if exit.Of(err) == exit.Interrupted || res.Imported == 0 {
			return err
		}
		return fmt.Errorf("%s were imported; run this again to go on: %w", terminal.Count(res.Imported, "message"), err)
	}
	if res.Faults == nil {
		res.Faults = []adopt.Fault{}
	}
	if c.JSON {
		err = c.Emit(adopted{p.From, p.Table.String(), p.Box, p.Mode, res, res.Held.Milliseconds()})
	} else {
		f.say(c, p, &res)
	}
	return errors.Join(err, faulty(p, &res))
}

func (f *adoptFlags) say(c *terminal.Terminal, p *adopt.Plan, res *adopt.Result) {
	c.Sayf("imported %s from %s into box %s", terminal.Count(res.Imported, "message"), p.Table, p.Box)
	if res.Skipped > 0 {
		c.Sayf("skipped %s, as --skip says", terminal.Count(res.Skipped, "row"))
	}
	if rest := len(p.Skip) - res.Skipped; rest > 0 {
		c.Notef("%s that --skip names did not wait to be imported", terminal.Count(rest, "row"))
	}
	if res.Gone > 0 {
		c.Sayf("%s delivered or removed by the original before their turn: is its relay still running?", terminal.Count(res.Gone, "row"))
	}
	if p.Mode != adopt.Import && len(res.Faults) == 0 && res.Waiting == 0 {
		c.Sayf("the %s is there: what is inserted into %s enters box %s", p.Mode, p.Table, p.Box)
		if res.Held > 0 {
			c.Sayf("writers were held off for %d ms", res.Held.Milliseconds())
		}
	}
}

// maxNamed is how many rows an error names.
const maxNamed = 20

// faulty names the rows that could not be converted.
func faulty(p *adopt.Plan, res *adopt.Result) error {
	if len(res.Faults) == 0 {
		return nil
	}
	what := fmt.Sprintf("adopt: %s of %s cannot be converted", terminal.Count(len(res.Faults), "row"), p.Table)
	if p.Mode != adopt.Import {
		what += fmt.Sprintf(", so that there is no %s", p.Mode)
	}
	return errors.Join(append([]error{errors.New(what + "; fix them, or skip them with --skip, and run this again")}, named(res.Faults)...)...)
}

func named(faults []adopt.Fault) []error {
	var errs []error
	for i, fault := range faults {
		if i == maxNamed {
			errs = append(errs, fmt.Errorf("and %d more", len(faults)-i))
			break
		}
		text := fmt.Sprintf("row %.100s: %s", fault.Row, fault.Reason)
		if fault.Behind > 0 {
			text += fmt.Sprintf(" (%d later of its key wait for it)", fault.Behind)
		}
		errs = append(errs, errors.New(text))
	}
	return errs
}

func (f *adoptFlags) takeAway(ctx context.Context, c *terminal.Terminal, s *component.Store, p *adopt.Plan) error {
	res, err := adopt.Undo(ctx, s.Adopt, p, adopt.Watch{Note: func(text string) { c.Notef("%s", text) }})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Emit(adopted{p.From, p.Table.String(), p.Box, adopt.Import, res, res.Held.Milliseconds()})
	}
	c.Sayf("nothing feeds box %s from %s any more; what was brought is noted, and is not imported again", p.Box, p.Table)
	return nil
}

// adoptable is what an adoption would do, in JSON.
type adoptable struct {
	From    string                `json:"from"`
	Table   string                `json:"table"`
	Box     string                `json:"box"`
	Mode    adopt.Mode            `json:"mode"`
	Mapping map[adopt.Role]string `json:"mapping"`

	adopt.Preview
}

func (f *adoptFlags) preview(ctx context.Context, c *terminal.Terminal, s *component.Store, p *adopt.Plan) error {
	v, err := adopt.Look(ctx, s.Adopt, p)
	if err != nil {
		return err
	}
	if v.Faults == nil {
		v.Faults = []adopt.Fault{}
	}
	out := adoptable{p.From, p.Table.String(), p.Box, p.Mode, p.Mapping(), v}
	if c.JSON {
		return c.Emit(out)
	}
	rows := [][]string{{"from", p.From}, {"table", out.Table}, {"box", out.Box}, {"mode", string(p.Mode)}}
	for _, role := range adopt.Roles() {
		source := out.Mapping[role]
		if source == "" {
			source = "-"
		}
		rows = append(rows, []string{string(role), source})
	}
	for _, count := range []struct {
		what string
		n    int
	}{
		{"undelivered", v.Undelivered},
		{"would be imported", v.Convertible},
		{"cannot be converted", len(v.Faults)},
		{"would wait behind them", v.Undelivered - v.Convertible - len(v.Faults)},
		{"in the box already", v.Known},
		{"other rows", v.Other},
	} {
		rows = append(rows, []string{count.what, strconv.Itoa(count.n)})
	}
	if v.Mode == adopt.Trigger || v.Mode == adopt.View {
		rows = append(rows, []string{"fed by", "a " + string(v.Mode)})
	}
	err = c.Table(nil, rows)
	for _, fault := range named(v.Faults) {
		c.Sayf("%v", fault)
	}
	return errors.Join(err)
}
