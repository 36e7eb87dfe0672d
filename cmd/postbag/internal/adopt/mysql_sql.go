package adopt

import (
	"fmt"
	"slices"
	"strings"
)

// mySyntax is the SQL of MySQL and MariaDB, with the sql_mode that sessions get.
type mySyntax struct{}

func myName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (mySyntax) column(alias, name string) string { return alias + "." + myName(name) }

func (mySyntax) table(schema, name string) string { return myName(schema) + "." + myName(name) }

func (mySyntax) literal(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(text) + "'"
}

// myRow writes what is read of a plan's row that goes by an alias.
type myRow struct {
	*Plan

	alias string
}

func (r myRow) col(role Role) (string, *Column) {
	source, there := r.sources[role]
	if !there {
		return "", nil
	}
	return mySyntax{}.column(r.alias, source.Column), r.Table.Column(source.Column)
}

// utf8 is a value's text in the encoding that boxes have.
func utf8(value string) string { return "CONVERT(" + value + " USING utf8mb4)" }

// id is the 32 hexadecimal digits of the original's UUID, or of one that is made of
// its id as in PostgreSQL, or null.
func (r myRow) id() string {
	col, c := r.col(RoleID)
	text, uuid := utf8(col), "NULL"
	switch c.Kind {
	case Bytes:
		text = "LOWER(HEX(" + col + "))"
		uuid = "CASE WHEN LENGTH(" + col + ") = 16 THEN " + text + " END"
	case Text, UUID:
		uuid = "CASE WHEN " + text + " REGEXP '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' THEN LOWER(REPLACE(" + text + ", '-', '')) END"
	default:
	}
	hash := "SHA2(CONCAT(" + mySyntax{}.literal("postbag adopt "+r.Table.Name+" ") + ", " + text + "), 256)"
	drawn := "INSERT(INSERT(LEFT(" + hash + ", 32), 13, 1, '8'), 17, 1, 'a')"
	return "COALESCE(NULLIF(" + uuid + ", REPEAT('0', 32)), " + drawn + ")"
}

// member is a member of a column with a JSON object, as JSON or as its text.
func (r myRow) member(role Role, text bool) string {
	col, _ := r.col(role)
	path := mySyntax{}.literal(`$."` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(r.sources[role].Member) + `"`)
	value := "JSON_EXTRACT(" + col + ", " + path + ")"
	if text {
		value = "CASE WHEN JSON_TYPE(" + value + ") <> 'NULL' THEN JSON_UNQUOTE(" + value + ") END"
	}
	return value
}

// text is the text of a role, or an empty one.
func (r myRow) text(role Role) string {
	col, c := r.col(role)
	if c == nil {
		return "''"
	}
	if r.sources[role].Member != "" {
		col = r.member(role, true)
	}
	return "COALESCE(" + utf8(col) + ", '')"
}

// headers is a JSON object as text, or null.
func (r myRow) headers() string {
	col, c := r.col(RoleHeaders)
	if c == nil {
		return "NULL"
	}
	if r.sources[RoleHeaders].Member != "" {
		col = r.member(RoleHeaders, false)
	}
	return "NULLIF(NULLIF(" + utf8(col) + ", ''), 'null')"
}

// payload is the payload's bytes. JSON is what the database shows of it.
func (r myRow) payload() string {
	col, c := r.col(RolePayload)
	if c.Kind == Bytes {
		return "COALESCE(" + col + ", '')"
	}
	return "CAST(COALESCE(" + utf8(col) + ", '') AS BINARY)"
}

// read are the columns that make a Row.
func (r myRow) read() string {
	return strings.Join([]string{
		r.id() + " AS id", r.text(RoleTopic) + " AS topic", r.text(RoleKey) + " AS `key`", r.text(RoleType) + " AS type",
		"COALESCE(" + r.headers() + ", '') AS headers", r.payload() + " AS payload",
	}, ", ")
}

// insert is the INSERT into the box of a row that is being inserted into the original.
func (r myRow) insert() string {
	lit := mySyntax{}.literal
	none := r.Box
	if r.topic != "" {
		none = r.topic
	}
	topic := "COALESCE(NULLIF(" + r.text(RoleTopic) + ", ''), " + lit(none) + ")"
	if r.Topic != TopicHere {
		topic = "REPLACE(" + lit(r.Topic) + ", " + lit(TopicHere) + ", " + topic + ")"
	}
	key := r.text(RoleKey)
	if r.Key != "" {
		key = lit(r.Key)
	}
	return "INSERT INTO " + myBox(r.Box) + " (id, topic, `key`, type, headers, payload) VALUES (" +
		strings.Join([]string{"UNHEX(" + r.id() + ")", topic, key, r.text(RoleType), r.headers(), r.payload()}, ", ") + ")"
}

func myBox(box string) string { return myName("postbag_" + box) }

// refs are the columns that tell a row from others, as bytes.
func (r myRow) refs() (ref, ref2 string) {
	one := func(name string) string {
		col := mySyntax{}.column(r.alias, name)
		if r.Table.Column(name).Kind == Bytes {
			return col
		}
		return "CAST(" + utf8(col) + " AS BINARY)"
	}
	ref, ref2 = one(r.ref[0]), "''"
	if len(r.ref) > 1 {
		ref2 = one(r.ref[1])
	}
	return ref, ref2
}

func (r myRow) orderBy() string {
	var parts []string
	for _, name := range append(slices.Clone(r.order), r.ref...) {
		parts = append(parts, mySyntax{}.column(r.alias, name))
	}
	return strings.Join(parts, ", ")
}

func (r myRow) from() string { return mySyntax{}.table(r.Table.Schema, r.Table.Name) }

// settings is the SET of an UPDATE that marks a row as delivered.
func (r myRow) settings() string {
	var parts []string
	for _, s := range r.delivered {
		value := s.value
		if value == now { // sessions have UTC for their time zone
			value = "CURRENT_TIMESTAMP(6)"
		}
		parts = append(parts, mySyntax{}.column(r.alias, s.column)+" = "+value)
	}
	return strings.Join(parts, ", ")
}

// known says that a row was noted and is not to be imported any more.
func (r myRow) known(a *Adoption) string {
	if a == nil {
		return "FALSE"
	}
	return r.noted(a.ID, " AND k.state <> 0")
}

// noted says that a row is in the list.
func (r myRow) noted(adoption int64, and string) string {
	ref, ref2 := r.refs()
	return fmt.Sprintf("EXISTS (SELECT 1 FROM postbag__adopted k WHERE k.adoption = %d AND k.ref = %s AND k.ref2 = %s%s)", adoption, ref, ref2, and)
}
