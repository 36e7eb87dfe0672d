package natsbroker

import (
	"strconv"
	"strings"
)

// A token is the last part of a reply subject: which call, and which of its
// messages.
func appendToken(b []byte, call uint64, i int) []byte {
	b = strconv.AppendUint(b, call, 36)
	b = append(b, '-')
	return strconv.AppendUint(b, uint64(i), 36)
}

func readToken(token string) (call uint64, i int, ok bool) {
	head, tail, found := strings.Cut(token, "-")
	call, err1 := strconv.ParseUint(head, 36, 64)
	index, err2 := strconv.ParseUint(tail, 36, 31)
	return call, int(index), found && err1 == nil && err2 == nil
}

// replies makes the reply subjects of a call, many at a time out of one piece of
// memory.
type replies struct {
	text  []byte
	ends  []int
	made  string
	first int // the message that made begins with
}

// next returns the reply subject of message i. The messages of a call, n in all,
// are asked for in rising order.
func (r *replies) next(prefix string, call uint64, i, n int) string {
	if i-r.first >= len(r.ends) {
		r.text, r.ends, r.first = r.text[:0], r.ends[:0], i
		for j := i; j < min(i+repliesAtOnce, n); j++ {
			r.text = appendToken(append(r.text, prefix...), call, j)
			r.ends = append(r.ends, len(r.text))
		}
		r.made = string(r.text)
	}
	at, start := i-r.first, 0
	if at > 0 {
		start = r.ends[at-1]
	}
	return r.made[start:r.ends[at]]
}

// repliesAtOnce keeps the piece small, because the client holds all of it as long as
// it holds one subject.
const repliesAtOnce = 64
