package adopt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// syntax writes the parts of SQL in which databases differ.
type syntax interface {
	// column is a column of a row that goes by an alias.
	column(alias, name string) string
	// table is a table's name.
	table(schema, name string) string
	// literal is a text.
	literal(text string) string
}

// condition is a condition on a row that goes by an alias.
type condition func(s syntax, alias string) string

// shape is what an Original makes of a table: where everything is.
type shape struct {
	sources map[Role]Source
	// ref are one or two columns that tell a row from all others, by an index.
	ref []string
	// order are the columns by which the original delivers, or delivered, in order.
	order []string
	// pending says that a row is undelivered, dead that the original gave it up. Nil:
	// the table does not say.
	pending, dead condition
	// fresh is pending for a row that is just being inserted. Nil: each one is.
	fresh condition
	// delivered are the columns that say that a row is delivered, with their values;
	// a value "now" is the time. Nil: no column says so.
	delivered []setting
	// gob says that everything is in the payload, in Go's gob encoding.
	gob bool
	// topic is the topic of every row, where no column says it.
	topic string
}

type setting struct{ column, value string }

const now = "now"

// Original is a kind of outbox table.
type Original struct {
	// Name is how the command line calls it.
	Name string
	// Title says whose it is.
	Title string
	fit   func(t *Table, o *Options) (*shape, error)
}

// Originals are all that are known.
func Originals() []Original {
	return []Original{
		{"debezium", "the outbox table of Debezium's event router", fitDebezium},
		{"sbmt-outbox", "a table of the Ruby gem sbmt-outbox", fitSbmt},
		{"velmie", "the table of velmie/outbox", fitVelmie},
		{"go-outbox", "the table of pkritiotis/go-outbox", fitGoOutbox},
		{"watermill", "a topic's table of watermill-sql", fitWatermill},
	}
}

// Names are the names of all originals.
func Names() []string {
	var names []string
	for _, o := range Originals() {
		names = append(names, o.Name)
	}
	return names
}

// ByName finds an original.
func ByName(name string) (Original, error) {
	all := Originals()
	if i := slices.IndexFunc(all, func(o Original) bool { return o.Name == name }); i >= 0 {
		return all[i], nil
	}
	if name == "" {
		return Original{}, fmt.Errorf("it is not said whose table it is; choose one of %s", strings.Join(Names(), ", "))
	}
	return Original{}, fmt.Errorf("there is no original %.40q; choose one of %s", name, strings.Join(Names(), ", "))
}

// seek finds the columns of roles by the names that they go by, and what is missing.
func (s *shape) seek(t *Table, o *Options, role Role, required bool, names ...string) error {
	if own, ok := o.Columns[role]; ok {
		if t.Column(own.Column) == nil {
			return fmt.Errorf("%s has no column %.64q, which --column names for the %s; correct it", t, own.Column, role)
		}
		s.sources[role] = own
		return nil
	}
	if name := t.first(names...); name != "" {
		s.sources[role] = Source{Column: name}
		return nil
	}
	if required {
		return fmt.Errorf("%s has no column %s for the %s; name it with --column %s=NAME, or correct --from",
			t, strings.Join(names, " or "), role, role)
	}
	return nil
}

// has says what is missing of columns whose names cannot be chosen.
func has(t *Table, names ...string) error {
	var errs []error
	for _, name := range names {
		if t.Column(name) == nil {
			errs = append(errs, fmt.Errorf("%s has no column %s; correct --table or --from", t, name))
		}
	}
	return errors.Join(errs...)
}

// is makes the condition that a column has a value.
func is(column, value string) condition {
	return func(s syntax, alias string) string { return s.column(alias, column) + " = " + value }
}

// fitDebezium: what was delivered is known to the connector alone, as a position in
// the database's log; the table has no mark of it, and often no order.
func fitDebezium(t *Table, o *Options) (*shape, error) {
	s := &shape{sources: map[Role]Source{}}
	err := errors.Join(
		s.seek(t, o, RoleID, true, "id"),
		s.seek(t, o, RoleTopic, true, "aggregatetype", "aggregate_type"),
		s.seek(t, o, RoleKey, true, "aggregateid", "aggregate_id"),
		s.seek(t, o, RoleType, false, "type", "event_type"),
		s.seek(t, o, RoleHeaders, false),
		s.seek(t, o, RolePayload, true, "payload"),
	)
	if err != nil {
		return nil, err
	}
	s.ref = []string{s.sources[RoleID].Column}
	if name := t.first("timestamp", "created_at", "occurred_at"); name != "" {
		s.order = []string{name}
	}
	return s, nil
}

// fitSbmt: status is pending 0, failed 1, delivered 2, discarded 3.
func fitSbmt(t *Table, o *Options) (*shape, error) {
	s := &shape{sources: map[Role]Source{}}
	err := errors.Join(
		has(t, "id", "status"),
		s.seek(t, o, RoleID, true, "uuid"),
		s.seek(t, o, RoleTopic, false),
		s.seek(t, o, RoleKey, true, "event_key"),
		s.seek(t, o, RoleType, false, "event_name"),
		s.seek(t, o, RolePayload, true, "payload", "proto_payload"),
		s.seek(t, o, RoleHeaders, false),
	)
	if err != nil {
		return nil, err
	}
	if _, own := s.sources[RoleHeaders]; !own && t.Column("options") != nil {
		s.sources[RoleHeaders] = Source{Column: "options", Member: "headers"}
	}
	s.ref, s.order = []string{"id"}, []string{"id"}
	s.pending, s.dead, s.fresh = is("status", "0"), is("status", "1"), is("status", "0")
	s.delivered = []setting{{"status", "2"}, {"processed_at", now}}
	return s, nil
}

// fitVelmie: status is pending 0, processed 1, dead -1.
func fitVelmie(t *Table, o *Options) (*shape, error) {
	s := &shape{sources: map[Role]Source{}}
	err := errors.Join(
		has(t, "status"),
		s.seek(t, o, RoleID, true, "id"),
		s.seek(t, o, RoleTopic, true, "aggregate_type"),
		s.seek(t, o, RoleKey, true, "aggregate_id"),
		s.seek(t, o, RoleType, true, "event_type"),
		s.seek(t, o, RoleHeaders, false, "headers"),
		s.seek(t, o, RolePayload, true, "payload"),
	)
	if err != nil {
		return nil, err
	}
	s.ref, s.order = []string{s.sources[RoleID].Column}, []string{s.sources[RoleID].Column}
	s.pending, s.dead, s.fresh = is("status", "0"), is("status", "-1"), is("status", "0")
	s.delivered = []setting{{"status", "1"}, {"processed_at", now}}
	return s, nil
}

// fitGoOutbox: state is pending 0, delivered 1, attempts exhausted 2. The message,
// its key and topic included, is in one column, in Go's own encoding.
func fitGoOutbox(t *Table, o *Options) (*shape, error) {
	s := &shape{sources: map[Role]Source{}, gob: true}
	for _, role := range []Role{RoleTopic, RoleKey, RoleType, RoleHeaders} {
		if _, given := o.Columns[role]; given {
			return nil, fmt.Errorf("the %s of go-outbox is inside of its data; leave --column %s out", role, role)
		}
	}
	err := errors.Join(
		has(t, "state"),
		s.seek(t, o, RoleID, true, "id"),
		s.seek(t, o, RolePayload, true, "data"),
	)
	if err != nil {
		return nil, err
	}
	s.ref = []string{s.sources[RoleID].Column}
	if t.Column("created_on") != nil {
		s.order = []string{"created_on", s.sources[RoleID].Column}
	}
	s.pending, s.dead, s.fresh = is("state", "0"), is("state", "2"), is("state", "0")
	s.delivered = []setting{{"state", "1"}, {"processed_on", now}, {"locked_by", "NULL"}, {"locked_on", "NULL"}}
	return s, nil
}
