package adopt

import (
	"slices"
	"strings"
)

// pgSyntax is PostgreSQL's SQL.
type pgSyntax struct{}

func pgName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (pgSyntax) column(alias, name string) string { return alias + "." + pgName(name) }

func (pgSyntax) table(schema, name string) string { return pgName(schema) + "." + pgName(name) }

// literal never holds a backslash escape, whatever standard_conforming_strings says.
func (pgSyntax) literal(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(text, `\`) {
		return " E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// pgRow writes what is read of a plan's row that goes by an alias.
type pgRow struct {
	*Plan

	alias string
}

func (r pgRow) col(role Role) (string, *Column) {
	source, there := r.sources[role]
	if !there {
		return "", nil
	}
	return pgSyntax{}.column(r.alias, source.Column), r.Table.Column(source.Column)
}

// id is the original's UUID. An id that is none, or zero, makes one of version 8 (RFC
// 9562, section 5.8) of the first 16 bytes of SHA-256 over the table and the id, so
// that it is the same whenever it is asked for.
func (r pgRow) id() string {
	col, c := r.col(RoleID)
	text := col + "::text"
	uuid := ""
	switch c.Kind {
	case UUID:
		uuid = col
	case Bytes:
		text = "encode(" + col + ", 'hex')"
		uuid = "CASE WHEN octet_length(" + col + ") = 16 THEN encode(" + col + ", 'hex')::uuid END"
	case Text:
		uuid = "CASE WHEN " + col + " ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN " + col + "::text::uuid END"
	default:
	}
	hash := "encode(sha256(convert_to(" + pgSyntax{}.literal("postbag adopt "+r.Table.Name+" ") + " || " + text + ", 'UTF8')), 'hex')"
	drawn := "overlay(overlay(left(" + hash + ", 32) PLACING '8' FROM 13 FOR 1) PLACING 'a' FROM 17 FOR 1)::uuid"
	if uuid == "" {
		return drawn
	}
	return "COALESCE(NULLIF(" + uuid + ", '00000000-0000-0000-0000-000000000000'), " + drawn + ")"
}

// text is the text of a role, or an empty one.
func (r pgRow) text(role Role) string {
	col, c := r.col(role)
	if c == nil {
		return "''"
	}
	if member := r.sources[role].Member; member != "" {
		return "COALESCE(" + col + " ->> " + pgSyntax{}.literal(member) + ", '')"
	}
	return "COALESCE(" + col + "::text, '')"
}

// headers is a JSON object as text, or null.
func (r pgRow) headers() string {
	col, c := r.col(RoleHeaders)
	if c == nil {
		return "NULL::text"
	}
	text := col + "::text"
	if member := r.sources[RoleHeaders].Member; member != "" {
		text = "(" + col + "::json -> " + pgSyntax{}.literal(member) + ")::text"
	}
	return "NULLIF(NULLIF(" + text + ", ''), 'null')"
}

// payload is the payload's bytes. JSON is what the database shows of it.
func (r pgRow) payload() string {
	col, c := r.col(RolePayload)
	if c.Kind == Bytes {
		return "COALESCE(" + col + ", ''::bytea)"
	}
	return "convert_to(COALESCE(" + col + "::text, ''), 'UTF8')"
}

// read are the columns that make a Row.
func (r pgRow) read() string {
	return strings.Join([]string{
		r.id() + "::text AS id", r.text(RoleTopic) + " AS topic", r.text(RoleKey) + " AS key", r.text(RoleType) + " AS type",
		"COALESCE(" + r.headers() + ", '') AS headers", r.payload() + " AS payload",
	}, ", ")
}

// insert is the INSERT into the box of a row that is being inserted into the original.
func (r pgRow) insert() string {
	topic := r.text(RoleTopic)
	lit := pgSyntax{}.literal
	switch {
	case r.topic != "":
		topic = "COALESCE(NULLIF(" + topic + ", ''), " + lit(r.topic) + ")"
	default:
		topic = "COALESCE(NULLIF(" + topic + ", ''), " + lit(r.Box) + ")"
	}
	if r.Topic != TopicHere {
		topic = "replace(" + lit(r.Topic) + ", " + lit(TopicHere) + ", " + topic + ")"
	}
	key := r.text(RoleKey)
	if r.Key != "" {
		key = lit(r.Key)
	}
	return "INSERT INTO " + pgSyntax{}.table("postbag", r.Box) + " (id, topic, key, type, headers, payload) VALUES (" +
		strings.Join([]string{r.id(), topic, key, r.text(RoleType), "(" + r.headers() + ")::json", r.payload()}, ", ") + ")"
}

// refs are the columns that tell a row from others, as texts.
func (r pgRow) refs() (ref, ref2 string) {
	ref, ref2 = pgSyntax{}.column(r.alias, r.ref[0])+"::text", "''"
	if len(r.ref) > 1 {
		ref2 = pgSyntax{}.column(r.alias, r.ref[1]) + "::text"
	}
	return ref, ref2
}

// isNoted joins a row with the note of it that goes by another alias, so that an
// index of the original serves.
func (r pgRow) isNoted(note string) string {
	var parts []string
	for i, name := range r.ref {
		column := note + "." + []string{"ref", "ref2"}[i]
		parts = append(parts, pgSyntax{}.column(r.alias, name)+" = "+column+"::"+r.Table.Column(name).Type)
	}
	return strings.Join(parts, " AND ")
}

func (r pgRow) orderBy() string {
	var parts []string
	for _, name := range append(slices.Clone(r.order), r.ref...) {
		column := pgSyntax{}.column(r.alias, name)
		if name == RowOrder && r.Table.Column(name) == nil {
			// Transaction ids have no order but their age; a transaction's commands are counted.
			column = "age(" + column + ") DESC, " + r.alias + ".cmin::text::bigint, " + r.alias + ".ctid"
		}
		parts = append(parts, column)
	}
	return strings.Join(parts, ", ")
}

// settings is the SET of an UPDATE that marks a row as delivered.
func (r pgRow) settings() string {
	var parts []string
	for _, s := range r.delivered {
		value := s.value
		if value == now {
			value = "clock_timestamp()"
			if strings.HasPrefix(r.Table.Column(s.column).Type, "timestamp") && !strings.HasSuffix(r.Table.Column(s.column).Type, "with time zone") ||
				strings.HasSuffix(r.Table.Column(s.column).Type, "without time zone") {
				value = "clock_timestamp() AT TIME ZONE 'UTC'"
			}
		}
		parts = append(parts, pgName(s.column)+" = "+value)
	}
	return strings.Join(parts, ", ")
}
