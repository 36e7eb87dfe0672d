package adopt

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Mode is how an original becomes a box.
type Mode string

// The modes.
const (
	// Import moves what is undelivered, once.
	Import Mode = "import"
	// Trigger has a trigger insert into the box what old code inserts into the table.
	Trigger Mode = "trigger"
	// View puts a view in the table's place, whose inserts go into the box.
	View Mode = "view"
)

// Modes are all modes.
func Modes() []Mode { return []Mode{Import, Trigger, View} }

// Fate is what becomes of a row that was imported.
type Fate string

// The fates.
const (
	Leave  Fate = "leave"  // it stays as it is
	Mark   Fate = "mark"   // it is marked as delivered, as the original does
	Delete Fate = "delete" // it is deleted
)

// Fates are all fates.
func Fates() []Fate { return []Fate{Leave, Mark, Delete} }

// TopicHere stands in Options.Topic for the topic that the row says.
const TopicHere = "{topic}"

// Options say what is to be adopted, and how.
type Options struct {
	// From is the name of the Original. Required.
	From string
	// Table is the original's name, with its schema if that is not searched. Required.
	Table string
	// Box gets the messages. Required.
	Box string
	// Slots is the rule for the box's slots. "" is by hash.
	Slots store.SlotRule
	Mode  Mode
	// Columns names columns that go by other names than the original's own. Topic,
	// key, type and headers may be a member of a column with a JSON object.
	Columns map[Role]Source
	// Topic is the topic of all messages, in which TopicHere stands for the row's.
	// Defaults to TopicHere.
	Topic string
	// Key is the key of all messages. Defaults to none.
	Key string
	// Where is a condition in SQL on rows that are to be imported. Defaults to none.
	Where string
	// All says that every row of a table that does not tell is undelivered.
	All bool
	// Dead imports what the original gave up, too.
	Dead bool
	// Group is watermill's consumer group, Offsets its table of them.
	Group, Offsets string
	// Originals is what becomes of rows that were imported. Defaults to Leave.
	Originals Fate
	// Undo says that the plan is to take a trigger or a view away, for which less has
	// to be known.
	Undo bool
	// Skip are rows, by the value that errors name them by, that are not imported.
	Skip []string
}

// Validate returns all that is wrong with the options by themselves.
func (o *Options) Validate() error {
	var errs []error
	if _, err := ByName(o.From); err != nil {
		errs = append(errs, fmt.Errorf("--from: %w", err))
	}
	if o.Table == "" {
		errs = append(errs, errors.New("--table is missing; name the original's table"))
	}
	if err := postbag.ValidBox(o.Box); err != nil {
		errs = append(errs, err)
	}
	if !slices.Contains(Modes(), o.Mode) {
		errs = append(errs, fmt.Errorf("--mode %.40q is unknown; choose import, trigger or view", o.Mode))
	}
	if !slices.Contains(Fates(), o.Originals) {
		errs = append(errs, fmt.Errorf("--originals %.40q is unknown; choose leave, mark or delete", o.Originals))
	}
	for _, role := range slices.Sorted(maps.Keys(o.Columns)) {
		if !slices.Contains(Roles(), role) {
			errs = append(errs, fmt.Errorf("--column %.40q is no part of a message; choose one of %s", role, words(Roles())))
		}
	}
	_, hasKey := o.Columns[RoleKey]
	switch {
	case hasKey && o.Key != "":
		errs = append(errs, errors.New("--key and --column key are both given; keep one"))
	case o.From == "go-outbox" && o.Key != "":
		errs = append(errs, errors.New("--key is not for go-outbox, whose rows have keys; leave it out"))
	case o.From != "watermill" && (o.Group != "" || o.Offsets != ""):
		errs = append(errs, errors.New("--group and --offsets are for watermill; leave them out"))
	case o.From != "debezium" && o.All:
		errs = append(errs, fmt.Errorf("--all is for debezium: %s says itself what is undelivered; leave it out", o.From))
	case o.All && o.Where != "":
		errs = append(errs, errors.New("--all and --where are both given; keep one"))
	}
	return errors.Join(errs...)
}

func words[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = string(list[i])
	}
	return strings.Join(texts, ", ")
}

// Plan is what is to be done with one table, checked against its columns.
type Plan struct {
	Options

	Table *Table

	*shape
}

// NewPlan checks options against the table that they name. The error names all that
// is wrong.
func NewPlan(t *Table, o Options) (*Plan, error) {
	if err := o.Validate(); err != nil {
		return nil, input(err)
	}
	original, err := ByName(o.From)
	if err != nil {
		return nil, input(err)
	}
	s, err := original.fit(t, &o)
	if err != nil {
		return nil, input(fmt.Errorf("%s is not %s:\n%w", t, original.Title, err))
	}
	p := &Plan{Options: o, Table: t, shape: s}
	if p.Topic == "" {
		p.Topic = TopicHere
	}
	if own, ok := o.Columns[RoleOrder]; ok {
		p.order = []string{own.Column}
	}
	p.delivered = slices.DeleteFunc(slices.Clone(p.delivered), func(x setting) bool { return t.Column(x.column) == nil })
	if o.Undo {
		return p, input(p.kinds())
	}
	return p, input(errors.Join(p.kinds(), p.can()))
}

// kinds refuses columns that cannot be read as what they are for.
func (p *Plan) kinds() error {
	var errs []error
	for _, role := range Roles() {
		source, there := p.sources[role]
		if role == RoleOrder && len(p.order) == 1 && p.order[0] != RowOrder {
			source, there = Source{Column: p.order[0]}, true
		}
		if !there {
			continue
		}
		c := p.Table.Column(source.Column)
		allowed := fits[role]
		if source.Member != "" {
			allowed = []Kind{JSON}
		}
		switch {
		case c == nil:
			errs = append(errs, fmt.Errorf("%s has no column %.64q; correct --column %s", p.Table, source.Column, role))
		case source.Member != "" && !slices.Contains([]Role{RoleTopic, RoleKey, RoleType, RoleHeaders}, role):
			errs = append(errs, fmt.Errorf("the %s cannot be a member of column %s; name a column of its own", role, c.Name))
		case !slices.Contains(allowed, c.Kind):
			errs = append(errs, fmt.Errorf("column %s of %s is of type %s, which cannot be the %s; name another with --column %s=NAME, or correct --from",
				c.Name, p.Table, c.Type, role, role))
		}
	}
	return errors.Join(errs...)
}

// can refuses what the original does not allow.
func (p *Plan) can() error {
	var errs []error
	if len(p.order) == 0 {
		errs = append(errs, fmt.Errorf("%s has no column that says which row came first; name one with --column order=NAME", p.Table))
	}
	if p.pending == nil && !p.All && p.Where == "" {
		errs = append(errs, fmt.Errorf("%s does not say which of its rows are undelivered; say it with --where CONDITION, or --all", p.Table))
	}
	if p.Originals == Mark && len(p.delivered) == 0 {
		errs = append(errs, fmt.Errorf("%s has no column that marks a row as delivered; choose --originals leave or delete", p.Table))
	}
	if p.Dead && p.dead == nil {
		errs = append(errs, fmt.Errorf("%s does not say which rows were given up; leave --with-dead out", p.Table))
	}
	if p.gob && p.Mode != Import {
		errs = append(errs, fmt.Errorf("go-outbox writes its messages in Go's own encoding, which a database cannot read in a %s; take --mode import", p.Mode))
	}
	if p.Mode != Import && !p.numbers() {
		errs = append(errs, fmt.Errorf("box %s takes slots by number, and refuses every key that is none: with a %s it would refuse what the old program inserts; "+
			"choose a box by hash, a column of whole numbers with --column key=NAME, or --key with a number", p.Box, p.Mode))
	}
	return errors.Join(errs...)
}

// numbers says whether the box takes all keys that rows can have.
func (p *Plan) numbers() bool {
	source, keyed := p.sources[RoleKey]
	if p.Slots != store.SlotsByNumber || p.Key == "" && !keyed {
		return true
	}
	if p.Key != "" {
		_, ok := store.NumberSlot(p.Key)
		return ok
	}
	c := p.Table.Column(source.Column)
	return c != nil && source.Member == "" && c.Kind == Integer
}

// RowOrder as the column of RoleOrder is the order in which transactions began to
// write, where the database keeps that with each row.
const RowOrder = "xmin"

// alias is what an original's row goes by in a query.
const alias = "o"

// due is the condition on rows that are to be imported.
func (p *Plan) due(s syntax) string {
	var parts []string
	switch {
	case p.pending == nil:
	case p.Dead:
		parts = append(parts, "("+p.pending(s, alias)+" OR "+p.dead(s, alias)+")")
	default:
		parts = append(parts, p.pending(s, alias))
	}
	if p.Where != "" {
		parts = append(parts, "("+p.Where+")")
	}
	if parts == nil {
		return "true"
	}
	return strings.Join(parts, " AND ")
}

// seen is the condition on rows that a trigger has brought into the box, as far as
// an import could take them for undelivered.
func (p *Plan) seen(s syntax) string {
	switch {
	case p.pending == nil:
		return "true"
	case p.dead == nil:
		return p.pending(s, alias)
	}
	return "(" + p.pending(s, alias) + " OR " + p.dead(s, alias) + ")"
}

// Mapping says where each part of a message comes from, for people.
func (p *Plan) Mapping() map[Role]string {
	out := make(map[Role]string)
	for role, source := range p.sources {
		out[role] = source.String()
	}
	out[RoleOrder] = strings.Join(p.order, ", ")
	if p.gob {
		for _, role := range []Role{RoleTopic, RoleKey, RoleHeaders, RolePayload} {
			out[role] = "inside of " + p.sources[RolePayload].Column
		}
	}
	if p.Key != "" {
		out[RoleKey] = fmt.Sprintf("always %q", p.Key)
	}
	_, column := out[RoleTopic]
	switch {
	case !strings.Contains(p.Topic, TopicHere):
		out[RoleTopic] = fmt.Sprintf("always %q", p.Topic)
	case !column && p.topic != "":
		out[RoleTopic] = fmt.Sprintf("always %q", strings.ReplaceAll(p.Topic, TopicHere, p.topic))
	case !column:
		out[RoleTopic] = fmt.Sprintf("always %q", strings.ReplaceAll(p.Topic, TopicHere, p.Box))
	case p.Topic != TopicHere:
		out[RoleTopic] += fmt.Sprintf(", as %q", p.Topic)
	}
	return out
}
