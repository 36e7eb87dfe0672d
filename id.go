package postbag

import (
	"encoding/hex"
	"fmt"
	"time"
)

// ID is a message's identity: a UUID. [NewID] draws version 7 (RFC 9562, section 5.7).
// You may bring any other. The zero ID means "none yet" and is never stored. IDs are
// compared as bytes.
type ID [16]byte

const (
	idText = 36 // "01234567-89ab-7def-8123-456789abcdef"
	idHex  = 32 // the same without hyphens
)

// ParseID reads an ID in the form that String writes, or as 32 hexadecimal digits without
// hyphens, in upper or lower case. It accepts any version, and the zero ID.
func ParseID(s string) (ID, error) {
	id, reason := parseID(s)
	if reason != "" {
		return ID{}, fmt.Errorf("postbag: parse id: %s; write it as 01234567-89ab-7cde-8f01-23456789abcd", reason)
	}
	return id, nil
}

func parseID[S []byte | string](s S) (id ID, reason string) {
	if len(s) != idText && len(s) != idHex {
		return ID{}, fmt.Sprintf("it has %d characters, not 36 (or 32 without hyphens)", len(s))
	}
	digit := 0
	for i := range len(s) {
		if len(s) == idText && isHyphen(i) {
			if s[i] != '-' {
				return ID{}, fmt.Sprintf("character %d is not a hyphen", i+1)
			}
			continue
		}
		n, ok := unhex(s[i])
		if !ok {
			return ID{}, fmt.Sprintf("character %d is not a hexadecimal digit", i+1)
		}
		id[digit/2] = id[digit/2]<<4 | n
		digit++
	}
	return id, ""
}

func isHyphen(i int) bool { return i == 8 || i == 13 || i == 18 || i == 23 }

func unhex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// IsZero says whether id is the zero ID.
func (id ID) IsZero() bool { return id == ID{} }

// String returns the usual form of a UUID: 32 lower-case hexadecimal digits in
// five groups.
func (id ID) String() string {
	text := id.text()
	return string(text[:])
}

func (id ID) text() (b [idText]byte) {
	hex.Encode(b[0:8], id[0:4])
	b[8] = '-'
	hex.Encode(b[9:13], id[4:6])
	b[13] = '-'
	hex.Encode(b[14:18], id[6:8])
	b[18] = '-'
	hex.Encode(b[19:23], id[8:10])
	b[23] = '-'
	hex.Encode(b[24:36], id[10:16])
	return b
}

// Time returns when a version 7 ID was drawn, by the clock of the process that
// drew it, to the millisecond and in UTC. It says nothing about when the message
// was stored or committed. An ID of another version has the zero time.
func (id ID) Time() time.Time {
	if id[6]>>4 != 7 || id[8]>>6 != 2 {
		return time.Time{}
	}
	var ms int64
	for _, b := range id[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms).UTC()
}

// AppendText appends the form of String to b. It implements
// encoding.TextAppender and never fails.
func (id ID) AppendText(b []byte) ([]byte, error) {
	text := id.text()
	return append(b, text[:]...), nil
}

// MarshalText returns the form of String. It implements encoding.TextMarshaler,
// which JSON uses too, and never fails.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText reads what ParseID reads. It implements
// encoding.TextUnmarshaler. After an error id is unchanged.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, reason := parseID(text)
	if reason != "" {
		return fmt.Errorf("postbag: unmarshal id: %s; write it as 01234567-89ab-7cde-8f01-23456789abcd", reason)
	}
	*id = parsed
	return nil
}
