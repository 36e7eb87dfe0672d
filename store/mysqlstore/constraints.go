package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// tight are what the text of a box's table has if its constraints are those of schema/box.sql: the sizes of headers and
// payload, no NUL in headers, and on MariaDB the grammar of headers.
var tight = []string{"<= 65536", "<= 16777216", "char(0"}

const tightMariaDB = "__json` CHECK"

// tableThere is the table of a box as it is there.
type tableThere struct {
	box  string
	by   store.SlotRule // that the box was made by
	text string
}

// tables returns those of all boxes that this account may see.
func (s *Store) tables(ctx context.Context) (all []tableThere, err error) {
	err = s.query(ctx)(sqlBoxes, nil, func(rows *sql.Rows) error {
		var t tableThere
		number := 0
		err := rows.Scan(&t.box, &number)
		t.by = storekit.RuleOf(number)
		all = append(all, t)
		return err
	})
	for i := range all {
		if err == nil {
			all[i].text, err = s.tableText(ctx, all[i].box)
		}
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(t tableThere) bool { return t.text == "" }), nil
}

// tableText returns what makes the table of a box as it is there; empty: there is none, or
// this account may not see it, of which who reads the box is told.
func (s *Store) tableText(ctx context.Context, box string) (text string, err error) {
	_, err = s.row(ctx, fmt.Sprintf(sqlTableText, tableOf(box)), nil, new(string), &text)
	switch codeOf(err) {
	case codeNoTable, codeDenied, codeColumnDenied:
		return "", nil
	}
	return text, err
}

// loose returns the boxes that were made with looser constraints.
func (s *Store) loose(all []tableThere) (boxes []string) {
	want := tight
	if s.server.Load().mariadb {
		want = append(slices.Clip(want), tightMariaDB)
	}
	for _, t := range all {
		if slices.ContainsFunc(want, func(part string) bool { return !strings.Contains(t.text, part) }) {
			boxes = append(boxes, t.box)
		}
	}
	return boxes
}

// Both servers copy a table to add a constraint, and producers wait meanwhile. So the migration tightens the boxes that are
// small, and leaves the others, of which Check warns. A table is small with so many rows and bytes, as
// far as the catalogue says.
const (
	tightenRows  = 100_000
	tightenBytes = 64 << 20
	tightenTimes = 3
)

// tightened are the constraints in schema/box.sql that boxes of older versions lack.
var tightened = regexp.MustCompile(`(?s)CONSTRAINT postbag_\$box__headers CHECK .*CONSTRAINT postbag_\$box__payload CHECK [^\n]*\)`)

// addConstraints gives small boxes that were made with looser constraints those of new ones, and returns which. Rows that break
// them stay: the constraints then leave out all that is as old as the youngest row, by its time, which producers have no right to set. A row
// with a time to come is none: with it they would leave out all that comes until then. What
// cannot be done is left: Check says so, and no migration fails for it.
func (s *Store) addConstraints(ctx context.Context) (boxes []string, err error) {
	if s.server.Load() == nil {
		return nil, nil
	}
	all, err := s.tables(ctx)
	if err != nil {
		return nil, err
	}
	for _, box := range s.loose(all) {
		small, err := s.small(ctx, box)
		if err != nil {
			return boxes, err
		}
		if !small {
			continue
		}
		err = s.tightenBox(ctx, box, "")
		if rowRefused(err) {
			var youngest int64
			if _, err = s.row(ctx, fmt.Sprintf(sqlYoungest, tableOf(box)), nil, &youngest); err == nil {
				err = s.tightenBox(ctx, box, fmt.Sprintf("at <= %d OR ", youngest))
			}
		}
		if ctx.Err() != nil {
			return boxes, err
		}
		if err == nil {
			boxes = append(boxes, box)
		}
	}
	return boxes, nil
}

// small says whether the table of a box may be copied.
func (s *Store) small(ctx context.Context, box string) (bool, error) {
	var rows, bytes int64
	_, err := s.row(ctx, fmt.Sprintf(sqlSize, tableOf(box)), []any{tightenRows + 1, "postbag_" + box}, &rows, &bytes)
	return rows <= tightenRows && bytes <= tightenBytes, err
}

// tightenBox changes the constraints of a box. but is what they except.
func (s *Store) tightenBox(ctx context.Context, box, but string) error {
	var text string
	if _, err := s.row(ctx, fmt.Sprintf(sqlTableText, tableOf(box)), nil, new(string), &text); err != nil {
		return err
	}
	add, err := tightenings(box, but)
	if err != nil {
		return err
	}
	var drop strings.Builder
	for _, part := range []string{"headers", "json", "payload"} {
		if name := "postbag_" + box + "__" + part; strings.Contains(text, "CONSTRAINT `"+name+"`") {
			drop.WriteString("DROP CONSTRAINT " + name + ", ")
		}
	}
	return s.define(ctx, "ALTER TABLE "+tableOf(box)+" "+drop.String()+add, s.opts.DDLWait, tightenTimes)
}

// tightenings are the constraints that a box of an older version gets. That of boxes by number
// is not among them: such a box is not loose, and ALTER TABLE leaves it.
func tightenings(box, but string) (string, error) {
	template, err := schemaFiles.ReadFile("schema/box.sql")
	if err != nil {
		return "", fmt.Errorf("mysqlstore: tighten box %s: %w; the program was built wrongly", box, err)
	}
	add := strings.ReplaceAll(string(tightened.Find(template)), "\t$number\n", "")
	add = strings.ReplaceAll(add, "CONSTRAINT postbag_$box", "ADD CONSTRAINT postbag_"+box)
	return strings.ReplaceAll(add, " CHECK (", " CHECK ("+but), nil
}
