package mysqlstore

import (
	"fmt"
	"strconv"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store/sqlkit"
)

// there is what a log has where a position is.
type there struct {
	row       string // the id and the time of the row at the position; empty: none
	witnessed bool   // the box's witness is where it was
}

// mark returns the mark of the row, zero if there is none.
func (t *there) mark() uint32 {
	const id = len(postbag.ID{})
	if len(t.row) <= id {
		return 0
	}
	at, _ := strconv.ParseInt(t.row[id:], 10, 64)
	return markOf([]byte(t.row[:id]), at)
}

// holds says whether a log can be the one in which the position was, by what is there
// now. The row at a position is one that was seen, and stays until retention has
// gone beyond it. Seqs have holes here, so that a log that was numbered again may
// also have none there. What retention has deleted the box's witness stands for.
func (p *position) holds(now *there, swept int64) bool {
	switch mark := now.mark(); {
	case !now.witnessed || swept < 0: // or the box is being set back
		return false
	case p.mark == 0:
		return true
	case mark == 0:
		return p.high <= swept
	default:
		return mark == p.mark
	}
}

// marked returns the mark of the row at a seq, zero if there is none.
func marked(query sqlkit.Querier, box string, seq int64) (uint32, error) {
	var now there
	_, err := sqlkit.Row(query, fmt.Sprintf(sqlMarkedBy, tableOf(box)), []any{seq}, &now.row)
	return now.mark(), err
}
