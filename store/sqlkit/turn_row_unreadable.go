package sqlkit

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/storekit"
)

// What cannot be read of a row: [store.Record.Err]. The constraints of a box keep such
// rows out, but those of older boxes let some through, and a session can switch them off.
var (
	errHeaders = errors.New("the headers are no JSON object of strings; discard the message and publish it again")
	errID      = errors.New("the id is not 16 bytes; discard the message and publish it again")
	errTopic   = errors.New("the topic is empty, not UTF-8, or holds a NUL; discard the message and publish it again")
	errKey     = errors.New("the key or the shard key is not UTF-8, or holds a NUL; discard the message and publish it again")
	errType    = errors.New("the type is not UTF-8, or holds a NUL; discard the message and publish it again")
)

// Inspect notes in a record which parts of its row cannot be read. headers are the row's
// text.
func Inspect(rec *store.Record, headers string) {
	if headers != "" {
		var err error
		rec.HeaderBytes = len(headers)
		if rec.Headers, err = storekit.ParseHeaders(headers); err != nil {
			rec.Headers, rec.Err = nil, errHeaders
		} else {
			rec.Err = store.HeaderFault(rec.Headers)
		}
	}
	switch {
	case rec.Topic == "" || !sound(rec.Topic):
		rec.Err = errTopic
	case !sound(rec.Key) || !sound(rec.ShardKey):
		rec.Err = errKey
	case !sound(rec.Type):
		rec.Err = errType
	}
}

// sound says whether text is UTF-8 without a zero byte. Most text is short and ASCII, so it
// looks at that in one loop.
func sound(text string) bool {
	for i := range len(text) {
		if text[i] == 0 {
			return false
		}
		if text[i] >= utf8.RuneSelf {
			return strings.IndexByte(text[i:], 0) < 0 && utf8.ValidString(text[i:])
		}
	}
	return true
}

// IDOf returns the id of a row, and whether the bytes are a whole id. It fills bytes that
// are too short with zeros. So a row that another program wrote always has the same id.
func IDOf(b []byte) (id postbag.ID, whole bool) {
	copy(id[:], b)
	return id, len(b) == len(id)
}

// TimeOf returns a column of microseconds since 1970 as a time that can be written: no
// later than the year 9999.
func TimeOf(micros int64) time.Time {
	return time.UnixMicro(min(max(micros, earliest), latest)).UTC()
}

// The first and the last microsecond of the years 1 to 9999.
const (
	earliest = -62_135_596_800_000_000
	latest   = 253_402_300_799_999_999
)

// Micros scans a column of times. A value that is no integer, which SQLite accepts, becomes
// the latest time.
type Micros int64

// Scan implements [sql.Scanner].
func (m *Micros) Scan(v any) error {
	*m = math.MaxInt64
	switch v := v.(type) {
	case int64:
		*m = Micros(v)
	case uint64:
		*m = Micros(min(v, math.MaxInt64))
	case []byte:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			*m = Micros(n)
		}
	}
	return nil
}

// idOf returns the id of a row, whatever it is.
func idOf(b []byte) postbag.ID {
	id, _ := IDOf(b)
	return id
}
