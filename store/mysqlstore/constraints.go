package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// tight are what the text of a box's table has if its constraints are those of schema/box.sql: the sizes of headers and
// payload, no NUL in headers, and on MariaDB the grammar of headers.
var tight = []string{"<= 65536", "<= 16777216", "char(0"}

const tightMariaDB = "__json` CHECK"

// loose returns the boxes that were made with looser constraints. No migration changes them: both servers copy a table to
// add a constraint, and producers wait meanwhile.
func (s *Store) loose(ctx context.Context) (boxes []string, err error) {
	var all []string
	err = s.query(ctx)(sqlBoxes, nil, func(rows *sql.Rows) error {
		var box string
		err := rows.Scan(&box)
		all = append(all, box)
		return err
	})
	if err != nil {
		return nil, err
	}
	want := tight
	if s.server.Load().mariadb {
		want = append(slices.Clip(want), tightMariaDB)
	}
	for _, box := range all {
		var text string
		_, err := s.row(ctx, fmt.Sprintf(sqlTableText, tableOf(box)), nil, new(string), &text)
		switch codeOf(err) {
		case codeNoTable, codeDenied, codeColumnDenied: // who reads the box is told
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, part := range want {
			if !strings.Contains(text, part) {
				boxes = append(boxes, box)
				break
			}
		}
	}
	return boxes, nil
}
