package redact

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
)

// inJSON hides what paths lead to in a JSON text. It is written again without white space, so that nothing of what is hidden can
// stay in it: of members of one name each is hidden. Where no path leads, the text is as it was. Not ok: it is no JSON.
// The error is that of the context, which it looks at now and then.
func (r *Rules) inJSON(ctx context.Context, text []byte) (shown []byte, hidden, ok bool, err error) {
	if !json.Valid(text) { // it also bounds how deep the text is
		return nil, false, false, ctx.Err()
	}
	w := &writer{rules: r, in: json.NewDecoder(&pieces{ctx, text})}
	w.in.UseNumber()
	at := make([]states, len(r.paths))
	for i := range at {
		at[i] = 1
	}
	if err := w.value(at); err != nil {
		return nil, false, false, ctx.Err()
	}
	if !w.hidden {
		return text, false, true, nil
	}
	return w.out.Bytes(), true, true, nil
}

// pieceOf is how many bytes are read between two looks at the context: with as many rules as there can be, some tens of milliseconds.
const pieceOf = 16 << 10

// pieces reads a text until its context ends.
type pieces struct {
	ctx  context.Context //nolint:containedctx // it lives as long as one call
	rest []byte
}

func (p *pieces) Read(into []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(into[:min(len(into), pieceOf)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
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
