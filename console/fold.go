package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// mostFolded is how many values of a JSON text a page folds. A text with more is shown indented only.
const mostFolded = 3000

// folded is a value of a JSON text, as a page shows it: what has others within is a part that can be opened and closed.
type folded struct {
	// Name is that of a field, quoted; empty: the value is of an array, or all of the text.
	Name string
	// Kind is object, array, string, number or word (true, false, null).
	Kind string
	// Text is the value as JSON; of objects and arrays how many values they have.
	Text string
	// Within are the values of an object or array, in their sequence.
	Within []*folded
	// Open: it is opened when the page comes.
	Open bool
}

// Holds says whether others may be within.
func (f *folded) Holds() bool { return f.Kind == "object" || f.Kind == "array" }

var errManyValues = errors.New("console: there are too many values")

// foldOf folds a JSON text. Nil: it is none, or it is too deep or has too many values.
func foldOf(data []byte) *folded {
	if depthOf(data) > mostDepth || !json.Valid(data) {
		return nil
	}
	f := folder{in: json.NewDecoder(bytes.NewReader(data))}
	f.in.UseNumber()
	root, err := f.value("", 0)
	if _, more := f.in.Token(); err != nil || !errors.Is(more, io.EOF) || !root.Holds() {
		return nil
	}
	return root
}

// folder reads a JSON text value by value, and keeps the sequence of its fields.
type folder struct {
	in   *json.Decoder
	seen int
}

// openDepth is how deep parts are opened when a page comes.
const openDepth = 2

func (f *folder) value(name string, depth int) (*folded, error) {
	if f.seen++; f.seen > mostFolded {
		return nil, errManyValues
	}
	token, err := f.in.Token()
	if err != nil {
		return nil, err
	}
	v := &folded{Name: name, Kind: "word", Open: depth < openDepth}
	switch t := token.(type) {
	case json.Delim:
		v.Kind = map[json.Delim]string{'{': "object", '[': "array"}[t]
		err = f.within(v, depth+1)
		v.Text = strconv.Itoa(len(v.Within))
	case string:
		v.Kind, v.Text = "string", jsonText(t)
	case json.Number:
		v.Kind, v.Text = "number", t.String()
	default:
		v.Text = jsonText(t)
	}
	return v, err
}

// within reads the values of an object or array, and its end.
func (f *folder) within(v *folded, depth int) error {
	for f.in.More() {
		name := ""
		if v.Kind == "object" {
			token, err := f.in.Token()
			if err != nil {
				return err
			}
			name = jsonText(token)
		}
		one, err := f.value(name, depth)
		if err != nil {
			return err
		}
		v.Within = append(v.Within, one)
	}
	_, err := f.in.Token()
	return err
}

// jsonText writes what a JSON text can hold, with signs such as < as they are: the page escapes them.
func jsonText(v any) string {
	var out bytes.Buffer
	write := json.NewEncoder(&out)
	write.SetEscapeHTML(false)
	if err := write.Encode(v); err != nil { // of no text, number or word
		return ""
	}
	return string(bytes.TrimSpace(out.Bytes()))
}
