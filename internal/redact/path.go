package redact

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mostSteps is how many steps a path has at most: the states of a path are bits of one word, and the last is its end.
const mostSteps = 62

// step is one step of a path down a payload.
type step struct {
	// deep: any number of steps down may come before it.
	deep bool
	// any: it takes every member and every element.
	any bool
	// name is that of a member, if index is negative.
	name  string
	index int
}

// takesMember says whether a step leads to a member of that name.
func (s step) takesMember(name string) bool {
	return s.any || s.index < 0 && strings.EqualFold(s.name, name)
}

// takesElement says whether a step leads to an element.
func (s step) takesElement(at int) bool { return s.any || s.index >= 0 && s.index == at }

// path is a parsed path.
type path []step

// states are where a payload is on a path: bit n says that the first n steps lead there.
type states uint64

// ends says whether the whole path leads there.
func (p path) ends(s states) bool { return s&(1<<len(p)) != 0 }

// down are the states one step further down; takes says whether a step leads there.
func (p path) down(s states, takes func(step) bool) (next states) {
	for i := range p {
		if s&(1<<i) == 0 {
			continue
		}
		if p[i].deep {
			next |= 1 << i
		}
		if takes(p[i]) {
			next |= 1 << (i + 1)
		}
	}
	return next
}

var (
	errRoot     = errors.New("does not begin with $; write one such as $.card.number or $..password")
	errStep     = errors.New("has something that is no step; write .name, ['name'], [0], .* or [*], or .. before a name, in place of it")
	errBracket  = errors.New("has a [ without a number, a *, or a name within quotation marks, and then a ]; slices, filters, lists and indexes from the end are not known")
	errIndex    = errors.New("has an index that is too large; write the element's number, from 0 on")
	errQuoted   = errors.New("has a name within quotation marks that does not end, or has a malformed escape")
	errName     = errors.New("has no name behind . or ..; write one of letters, digits and _, or * for all, and put others into ['name']")
	errTooDeep  = errors.New("has more than 62 steps; write .. in place of some of them")
	errRelative = errors.New("ends with ..; write a name or * behind it")
)

// parsePath reads a path.
func parsePath(text string) (p path, err error) {
	rest, rooted := strings.CutPrefix(text, "$")
	if !rooted || !utf8.ValidString(text) {
		return nil, errRoot
	}
	for rest != "" {
		var s step
		if s, rest, err = parseStep(rest); err != nil {
			return nil, err
		}
		if p = append(p, s); len(p) > mostSteps {
			return nil, errTooDeep
		}
	}
	return p, nil
}

func parseStep(text string) (s step, rest string, err error) {
	s.index = -1
	var deep bool
	if rest, deep = strings.CutPrefix(text, ".."); deep {
		if s.deep = true; rest == "" {
			return s, "", errRelative
		}
		if rest[0] != '[' {
			return s.named(rest)
		}
	}
	switch {
	case rest[0] == '[':
		return s.bracketed(rest[1:])
	case rest[0] == '.' && !deep:
		return s.named(rest[1:])
	}
	return s, "", errStep
}

// named reads a plain name, or a *.
func (s step) named(text string) (step, string, error) {
	if rest, all := strings.CutPrefix(text, "*"); all {
		s.any = true
		return s, rest, nil
	}
	end := strings.IndexFunc(text, func(r rune) bool {
		return r < utf8.RuneSelf && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		end = len(text)
	}
	s.name = text[:end]
	if end == 0 || text[0] >= '0' && text[0] <= '9' {
		return s, "", errName
	}
	return s, text[end:], nil
}

// bracketed reads what stands behind a [, with its ].
func (s step) bracketed(text string) (step, string, error) {
	var rest string
	switch {
	case strings.HasPrefix(text, "*"):
		s.any, rest = true, text[1:]
	case text != "" && (text[0] == '\'' || text[0] == '"'):
		name, behind, err := unquoted(text)
		if err != nil {
			return s, "", err
		}
		s.name, rest = name, behind
	default:
		end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
		if end < 1 || end > 1 && text[0] == '0' {
			return s, "", errBracket
		}
		n, err := strconv.Atoi(text[:end])
		if err != nil {
			return s, "", errIndex
		}
		s.index, rest = n, text[end:]
	}
	rest, closed := strings.CutPrefix(rest, "]")
	if !closed {
		return s, "", errBracket
	}
	return s, rest, nil
}

// unquoted reads a name within quotation marks of either kind, with the escapes of JSON and that of the mark.
func unquoted(text string) (name, rest string, err error) {
	mark := text[0]
	var body strings.Builder
	body.WriteByte('"')
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == mark:
			body.WriteByte('"')
			if json.Unmarshal([]byte(body.String()), &name) != nil {
				return "", "", errQuoted
			}
			return name, text[i+1:], nil
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != '\'' {
				body.WriteByte('\\')
			}
			body.WriteByte(text[i])
		case c == '"':
			body.WriteString(`\"`)
		default:
			body.WriteByte(c)
		}
	}
	return "", "", errQuoted
}
