package terminal

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table writes rows in columns, the headings first, if there are any.
func (c *Terminal) Table(headings []string, rows [][]string) error {
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	if len(headings) > 0 {
		_, _ = fmt.Fprintln(w, strings.Join(headings, "\t"))
	}
	for _, r := range rows {
		cells := make([]string, len(r))
		for i := range r {
			cells[i] = Printable(r[i])
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}
