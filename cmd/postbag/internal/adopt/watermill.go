package adopt

import (
	"errors"
	"fmt"
	"strings"
)

// The names of watermill-sql's tables begin so, followed by the topic.
const (
	watermillTable   = "watermill_"
	watermillOffsets = "watermill_offsets_"
)

// fitWatermill: one table a topic. What was delivered is, in the usual schema, a
// position for each consumer group in a table of offsets, and in the schema for
// queues a mark in the row.
func fitWatermill(t *Table, o *Options) (*shape, error) {
	s := &shape{sources: map[Role]Source{}, topic: strings.TrimPrefix(t.Name, watermillTable)}
	err := errors.Join(
		has(t, "offset"),
		s.seek(t, o, RoleID, true, "uuid"),
		s.seek(t, o, RoleTopic, false),
		s.seek(t, o, RoleKey, false),
		s.seek(t, o, RoleType, false),
		s.seek(t, o, RoleHeaders, true, "metadata"),
		s.seek(t, o, RolePayload, true, "payload"),
	)
	if err != nil {
		return nil, err
	}
	s.ref, s.order = []string{"offset"}, []string{"offset"}
	if t.Column("acked") != nil {
		pending := func(x syntax, alias string) string { return "NOT " + x.column(alias, "acked") }
		s.pending, s.fresh = pending, pending
		s.delivered = []setting{{"acked", "TRUE"}}
		return s, nil
	}
	if t.Column("transaction_id") != nil {
		s.ref, s.order = []string{"transaction_id", "offset"}, []string{"transaction_id", "offset"}
	}
	offsets, err := offsetsTable(t, o)
	if err != nil {
		return nil, err
	}
	s.pending = beyondOffset(t, offsets, o.Group, t.Column("transaction_id") != nil)
	return s, nil
}

func offsetsTable(t *Table, o *Options) (string, error) {
	if o.Offsets != "" {
		return o.Offsets, nil
	}
	topic, ok := strings.CutPrefix(t.Name, watermillTable)
	if !ok {
		return "", fmt.Errorf("the name of %s does not say its table of offsets; name that with --offsets", t)
	}
	return watermillOffsets + topic, nil
}

// beyondOffset says that a consumer group has not acknowledged a row. A group that is
// not in the table of offsets has acknowledged nothing.
func beyondOffset(t *Table, offsets, group string, byTransaction bool) condition {
	return func(x syntax, alias string) string {
		from := " FROM " + x.table(t.Schema, offsets) + " w WHERE w.consumer_group = " + x.literal(group)
		if byTransaction {
			return "COALESCE((" + x.column(alias, "transaction_id") + ", " + x.column(alias, "offset") +
				") > (SELECT w.last_processed_transaction_id, COALESCE(w.offset_acked, 0)" + from + "), true)"
		}
		return x.column(alias, "offset") + " > COALESCE((SELECT w.offset_acked" + from + "), 0)"
	}
}
