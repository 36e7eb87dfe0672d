package storekit

import (
	"context"

	"github.com/postbag/postbag/store"
)

// What one List does at most.
const (
	listDefault = 50
	listMost    = 1000
	lookMost    = 20_000
	listChunk   = 500
	errorChunk  = 900      // of which a list has fewer than the 1000 that MariaDB makes a table of
	listBytes   = 16 << 20 // of the messages, everything in them counted; the one that crosses it comes too
)

// ListLimit brings the limit of a query within bounds.
func ListLimit(limit int) int {
	if limit <= 0 {
		limit = listDefault
	}
	return min(limit, listMost)
}

// Piece is a part of a walk: the rows that may match of those that were looked at, how many those were, and the ordinal of the last.
type Piece[Row any] struct {
	Rows   []Row
	Looked int
	Last   int64
}

// Walk walks all that a query can find, in the query's direction. It returns at most
// q.Limit items, and the cursor to go on with. chunk looks at up to size more rows from an
// ordinal on; none: there are no more. ordinal and items return the ordinal and the items of a row.
func Walk[Row any](ctx context.Context, q *store.Query, from Cursor, chunk func(from int64, size int) (Piece[Row], error),
	ordinal func(*Row) int64, items func(*Row) ([]store.Item, error),
) ([]store.Item, string, error) {
	var out []store.Item
	bytes := 0
	size, most := min(q.Limit+1, listChunk), mostOf(q)
	for looked := 0; ; size = min(4*size, most) {
		p, err := chunk(from.Ordinal, size)
		if err != nil || p.Looked == 0 {
			return out, "", err
		}
		rows := p.Rows
		for i := range rows {
			at := ordinal(&rows[i])
			if at != from.Ordinal {
				from.Skip = 0
			}
			found, err := items(&rows[i])
			if err != nil {
				return nil, "", err
			}
			found = found[min(from.Skip, len(found)):]
			room := q.Limit - len(out)
			if len(found) > room {
				return append(out, found[:room]...), Cursor{Ordinal: at, Skip: from.Skip + room}.String(), nil
			}
			out = append(out, found...)
			from = Cursor{Ordinal: behind(at, q.Oldest)}
			if bytes += sizeOf(found); bytes >= listBytes {
				return out, from.String(), nil
			}
		}
		from = Cursor{Ordinal: behind(p.Last, q.Oldest)}
		looked += p.Looked
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		if looked >= lookMost || len(out) >= q.Limit {
			return out, from.String(), nil
		}
	}
}

// mostOf is how many rows a walk looks at together. Of those with an error few match, and what is looked at is little.
func mostOf(q *store.Query) int {
	if q.Error != "" {
		return errorChunk
	}
	return listChunk
}

// behind returns the ordinal behind one, in the direction of a walk.
func behind(at int64, oldest bool) int64 {
	if oldest {
		return at + 1
	}
	return at - 1
}

func sizeOf(items []store.Item) (n int) {
	for i := range items {
		n += items[i].Size()
	}
	return n
}
