package console

import (
	"net/http"
	"slices"
	"strings"
)

// column is one of the table of messages, behind the time at which each was stored.
type column struct {
	Name, Label string
	// Number: its values stand at the right.
	Number bool
	// Shown: the page has it.
	Shown bool
}

// allColumns are those that there are, in their sequence. Those that are Shown are shown where nobody chooses.
var allColumns = []column{
	{"state", "State", false, true},
	{"topic", "Topic", false, true},
	{"key", "Key", false, true},
	{"type", "Type", false, true},
	{"subscription", "Subscription", false, true},
	{"attempts", "Attempts", true, true},
	{"bytes", "Bytes", true, true},
	{"error", "Error", false, true},
	{"id", "Id", false, false},
	{"number", "Number", true, false},
	{"shard-key", "Shard key", false, false},
}

var chosenColumns = parameter{"columns", "The columns of the table, with commas between."}

// usualColumns are those that are shown where nobody chooses.
func usualColumns() string {
	var names []string
	for _, c := range allColumns {
		if c.Shown {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ",")
}

// columnsOf refuses columns that there are not.
func columnsOf(r *http.Request) error {
	text := r.URL.Query().Get(chosenColumns.name)
	for name := range strings.SplitSeq(text, ",") {
		if text != "" && !slices.ContainsFunc(allColumns, func(c column) bool { return c.Name == name }) {
			return badRequestf("there is no column %.40q; choose some of state, topic, key, type, subscription, attempts, bytes, error, id, number and shard-key", name)
		}
	}
	return nil
}

// Columns are all columns, with whether the page shows them.
func (s *sheet) Columns() []column {
	all := slices.Clone(allColumns)
	if text := s.Get(chosenColumns.name); text != "" {
		names := strings.Split(text, ",")
		for i := range all {
			all[i].Shown = slices.Contains(names, all[i].Name)
		}
	}
	return all
}
