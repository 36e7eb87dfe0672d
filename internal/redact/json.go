package redact

import (
	"bytes"
	"encoding/json"
)

// inJSON hides what paths lead to in a JSON text. It is written again without white space, so that nothing of what is hidden can
// stay in it: of members of one name each is hidden. Where no path leads, the text is as it was. Not ok: it is no JSON.
func (r *Rules) inJSON(text []byte) (shown []byte, hidden, ok bool) {
	if !json.Valid(text) { // it also bounds how deep the text is
		return nil, false, false
	}
	w := &writer{rules: r, in: json.NewDecoder(bytes.NewReader(text))}
	w.in.UseNumber()
	at := make([]states, len(r.paths))
	for i := range at {
		at[i] = 1
	}
	if err := w.value(at); err != nil {
		return nil, false, false
	}
	if !w.hidden {
		return text, false, true
	}
	return w.out.Bytes(), true, true
}

// writer writes a JSON text again.
type writer struct {
	rules  *Rules
	in     *json.Decoder
	out    bytes.Buffer
	hidden bool
}

// value writes the next value, to which the paths have come as at says.
func (w *writer) value(at []states) error {
	for i, p := range w.rules.paths {
		if p.ends(at[i]) {
			w.hidden = true
			w.text(Mark)
			var skipped json.RawMessage
			return w.in.Decode(&skipped)
		}
	}
	token, err := w.in.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return w.members(at)
		}
		return w.elements(at)
	case string:
		w.text(token)
	case json.Number:
		w.out.WriteString(token.String())
	case bool:
		if token {
			w.out.WriteString("true")
		} else {
			w.out.WriteString("false")
		}
	default:
		w.out.WriteString("null")
	}
	return nil
}

// members writes the members of an object, with its end.
func (w *writer) members(at []states) error {
	w.out.WriteByte('{')
	for first := true; w.in.More(); first = false {
		token, err := w.in.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		if !first {
			w.out.WriteByte(',')
		}
		w.text(name)
		w.out.WriteByte(':')
		if err := w.value(w.down(at, func(s step) bool { return s.takesMember(name) })); err != nil {
			return err
		}
	}
	return w.end('}')
}

// elements writes the elements of an array, with its end.
func (w *writer) elements(at []states) error {
	w.out.WriteByte('[')
	for n := 0; w.in.More(); n++ {
		if n > 0 {
			w.out.WriteByte(',')
		}
		if err := w.value(w.down(at, func(s step) bool { return s.takesElement(n) })); err != nil {
			return err
		}
	}
	return w.end(']')
}

func (w *writer) end(mark byte) error {
	w.out.WriteByte(mark)
	_, err := w.in.Token()
	return err
}

// down is where the paths are one step further down.
func (w *writer) down(at []states, takes func(step) bool) []states {
	next := make([]states, len(at))
	for i, p := range w.rules.paths {
		if at[i] != 0 {
			next[i] = p.down(at[i], takes)
		}
	}
	return next
}

// text writes a text, without the escapes for HTML.
func (w *writer) text(s string) {
	one := json.NewEncoder(&w.out)
	one.SetEscapeHTML(false)
	_ = one.Encode(s)               //nolint:errchkjson // no text can fail
	w.out.Truncate(w.out.Len() - 1) // its line end
}
