package sqlitestore

import (
	"strings"

	"github.com/postbag/postbag"
)

// pageRow is how a row of a page is scanned. Each column costs the driver three
// locks and two allocations, which is more than SQLite needs to join the short
// ones: they come as one text, head, with a NUL behind each, which none of them
// can hold.
type pageRow struct {
	recordRow

	head string
}

// dest is where to scan the columns of sqlPage, or of sqlFilteredPage.
func (r *pageRow) dest(filtered bool) []any {
	r.wanted = true
	d := []any{&r.seq, &r.at, &r.head, &r.payload}
	if filtered {
		d = append(d, &r.wanted)
	}
	return d
}

// split fills in what is in head: id, topic, key, shard_key, type, headers. It is false
// of a row that no program writes but with its checks off: the id has not 16 bytes, or
// a text holds a NUL.
func (r *pageRow) split() bool {
	const id = len(postbag.ID{})
	if len(r.head) <= id || r.head[id] != 0 {
		return false
	}
	r.id = append(r.id[:0], r.head[:id]...)
	rest, whole := r.head[id+1:], true
	for _, field := range []*string{&r.topic, &r.key, &r.shardKey, &r.typ} {
		var ok bool
		*field, rest, ok = strings.Cut(rest, "\x00")
		whole = whole && ok
	}
	r.headers = rest
	return whole && strings.IndexByte(rest, 0) < 0
}
