package adopt

import "slices"

// Kind is what a column holds, as far as that decides how it is read.
type Kind int

// The kinds.
const (
	Other   Kind = iota // anything that has a text: an enumeration, a number with a fraction
	Text                // varchar, text and the like
	Integer             // whole numbers
	UUID                // a type of its own
	JSON                // json, jsonb
	Bytes               // bytea, blob, binary
	Boolean
	Time
)

// String names the kind for messages.
func (k Kind) String() string {
	return [...]string{"other", "text", "whole numbers", "uuid", "JSON", "bytes", "boolean", "time"}[k]
}

// Column is one column of an original.
type Column struct {
	Name string
	// Type is the database's own name of the type.
	Type string
	Kind Kind
	// Indexed says that an index begins with it.
	Indexed bool
}

// Table is an original as the database has it.
type Table struct {
	Schema, Name string
	Columns      []Column
	// View says that it is a view.
	View bool
}

// String is the table's name for people.
func (t *Table) String() string {
	if t.Schema == "" {
		return t.Name
	}
	return t.Schema + "." + t.Name
}

// Column returns a column by its name, or nil.
func (t *Table) Column(name string) *Column {
	if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name }); i >= 0 {
		return &t.Columns[i]
	}
	return nil
}

// first returns the first of some names that is a column's, or "".
func (t *Table) first(names ...string) string {
	for _, name := range names {
		if t.Column(name) != nil {
			return name
		}
	}
	return ""
}

// Role is what a column is to a message.
type Role string

// The roles.
const (
	RoleID      Role = "id"
	RoleTopic   Role = "topic"
	RoleKey     Role = "key"
	RoleType    Role = "type"
	RoleHeaders Role = "headers"
	RolePayload Role = "payload"
	// RoleOrder is the column that says which row came first.
	RoleOrder Role = "order"
)

// Roles are all roles.
func Roles() []Role {
	return []Role{RoleID, RoleTopic, RoleKey, RoleType, RoleHeaders, RolePayload, RoleOrder}
}

// Source is where a part of a message comes from: a column, or a member of a column
// that holds a JSON object.
type Source struct{ Column, Member string }

// String is the source as it is written for --column.
func (s Source) String() string {
	if s.Member == "" {
		return s.Column
	}
	return s.Column + "." + s.Member
}

// fits are the kinds that can be read for a role.
var fits = map[Role][]Kind{
	RoleID:      {UUID, Text, Bytes, Integer},
	RoleTopic:   {Text, Integer, UUID, Other},
	RoleKey:     {Text, Integer, UUID, Other},
	RoleType:    {Text, Integer, Other},
	RoleHeaders: {JSON, Text},
	RolePayload: {Bytes, JSON, Text},
	RoleOrder:   {Integer, Time, UUID, Text, Other, Bytes},
}
