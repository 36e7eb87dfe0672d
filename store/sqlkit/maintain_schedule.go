package sqlkit

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/postbag/postbag/store/storekit"
)

// Of how many names of boxes one look at the schedule asks, and how many it says at most.
const (
	scheduledNames = 500
	saidNames      = 10
)

// WatchSchedule says when messages are scheduled for boxes that do not exist: a plain
// INSERT can do that where all boxes share one table of scheduled messages. They wait until
// somebody makes the box, and nobody maintains it, so that the housekeeping of the first
// box by name looks for them. It adds a fault, and a notice of that box once a day.
func (m *Maintenance) WatchSchedule(ctx context.Context) error {
	var boxes, none []string
	err := m.Query(ctx)(sqlBoxNames, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		boxes = append(boxes, name)
		return err
	})
	if err != nil || len(boxes) == 0 || boxes[0] != m.Box {
		return err
	}
	var last []byte
	from := []byte{}
	for range scheduledNames {
		var name []byte
		if _, err := m.base.row(ctx, m.base.dialect.ScheduledBox, []any{from}, &name); err != nil {
			return err
		}
		if name == nil || last != nil && bytes.Equal(name, last) || len(none) == saidNames {
			break
		}
		if !slices.Contains(boxes, string(name)) {
			none = append(none, fmt.Sprintf("%q", name))
		}
		last, from = name, append(bytes.Clone(name), 0)
	}
	if len(none) == 0 {
		return nil
	}
	names := strings.Join(none, ", ")
	m.Faultf("messages are scheduled for boxes that do not exist, and are never sent: %s; "+
		"make the boxes, or delete the rows of table postbag__scheduled that name them", names)
	m.kept = append(m.kept, kept{storekit.KeptScheduled(m.Box, names), "no such box: make it, or delete the rows of postbag__scheduled that name it"})
	return m.noteKept(ctx)
}
