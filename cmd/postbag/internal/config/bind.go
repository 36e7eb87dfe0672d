package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of a file, so that the parser, which recurses and is quadratic, ends soon
// whatever the file holds.
const (
	maxDepth = 50
	maxLines = 4000
)

// bind parses data and fills f with it, and then with what its profile says. It goes on
// after a mistake, so that all are found in one reading; false says that there was
// nothing to read. What f has already stays where data says nothing.
func (b *binder) bind(data []byte, f *File) bool {
	p := b.problems
	if !utf8.Valid(data) {
		p.line(0, "is not valid UTF-8; save it as UTF-8 text")
		return false
	}
	if bytes.Count(data, []byte("\n")) > maxLines {
		p.line(0, fmt.Sprintf("has more than %d lines; it is no postbag.yaml", maxLines))
		return false
	}
	if tooDeep(data) {
		p.line(0, fmt.Sprintf("is nested deeper than %d levels; it is no postbag.yaml", maxDepth))
		return false
	}
	tree, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		p.syntax(err)
		return false
	}
	if len(tree.Docs) > 1 {
		p.line(0, "holds more than one document; keep one a file")
	}
	for _, doc := range tree.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType {
			b.value("", doc.Body, reflect.ValueOf(f).Elem())
			if b.chosen != nil {
				chosen := b.chosen
				b.inProfile = true
				b.value("", chosen, reflect.ValueOf(f).Elem())
			}
		}
		break //nolint:staticcheck // the others were refused above
	}
	return true
}

// tooDeep bounds nesting before the parser, which recurses, sees it.
func tooDeep(data []byte) bool {
	depth := 0
	for line := range strings.Lines(string(data)) {
		if indent := len(line) - len(strings.TrimLeft(line, " \t-?")); indent > 4*maxDepth {
			return true
		}
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			}
			if depth > maxDepth {
				return true
			}
		}
	}
	return false
}

// syntax adds an error of the parser.
func (p *problems) syntax(err error) {
	var line int
	var text string
	if e, ok := errors.AsType[yaml.Error](err); ok {
		text = e.GetMessage() // its Error prints the whole file again
		if t := e.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line
		}
	} else {
		text = err.Error()
	}
	text, _, _ = strings.Cut(text, "\n")
	fix := "fix the syntax"
	if strings.Contains(text, "'\t'") {
		text, fix = "a tab stands in place of spaces", "indent with spaces"
	}
	p.line(line, "is no YAML: "+Redact(text)+"; "+fix)
}

// binder fills the fields of a File from the tree of its text.
type binder struct {
	*problems

	kinds     Kinds
	source    Source
	anchors   map[string]ast.Node
	depth     int
	literal   bool      // ${NAME} is part of the text
	exact     bool      // spaces at the ends of a quoted text are part of it
	entry     bool      // the value has a name that the operator chose, such as one that ends with _env
	left      bool      // expand has left a variable of another machine in the text
	chosen    ast.Node  // what the chosen profile says
	found     *[]string // the names of all profiles
	inProfile bool      // it is the chosen one that is read
}

// value fills v from n, which is the setting at path.
func (b *binder) value(path string, n ast.Node, v reflect.Value) {
	n = b.resolve(path, n)
	if n == nil {
		return
	}
	if b.places[path].line == 0 {
		b.mark(path, lineOf(n))
	}
	if d, ok := reflect.TypeAssert[*Destination](v.Addr()); ok {
		b.destination(path, n, d, b.kinds.Destinations, "destination")
		return
	}
	if from, ok := reflect.TypeAssert[*Origin](v.Addr()); ok {
		b.destination(path, n, (*Destination)(from), b.kinds.Sources, "source")
		return
	}
	if d, ok := reflect.TypeAssert[*DeadTo](v.Addr()); ok {
		if _, settings := n.(ast.MapNode); !settings {
			b.scalar(path, n, reflect.ValueOf(&d.Box).Elem())
			return
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		if _, ok := reflect.TypeAssert[scalarText](v); ok {
			b.scalar(path, n, v)
			return
		}
		b.eachItem(path, n, func(key string, item *ast.MappingValueNode) { b.field(path, key, item, v) })
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		b.eachItem(path, n, func(key string, item *ast.MappingValueNode) {
			one := reflect.New(v.Type().Elem()).Elem()
			if before := v.MapIndex(reflect.ValueOf(key)); before.IsValid() {
				one.Set(before)
			}
			b.entry = one.Kind() == reflect.String
			b.value(below(path, key), item.Value, one)
			b.entry = false
			v.SetMapIndex(reflect.ValueOf(key), one)
		})
	case reflect.Slice:
		b.list(path, n, v)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		b.value(path, n, v.Elem())
	default:
		b.scalar(path, n, v)
	}
}

// resolve follows anchors and aliases to what they stand for; nil after a
// mistake.
func (b *binder) resolve(path string, n ast.Node) ast.Node {
	for range maxDepth {
		switch node := n.(type) {
		case *ast.AnchorNode:
			b.anchors[node.Name.GetToken().Value] = node.Value
			n = node.Value
		case *ast.AliasNode:
			target, ok := b.anchors[node.Value.GetToken().Value]
			if !ok {
				b.line(lineOf(n), path+" is an alias of an anchor that does not stand above it; write the value itself")
				return nil
			}
			n = target
		case *ast.TagNode:
			b.line(lineOf(n), path+" has a YAML tag; leave it out")
			return nil
		case *ast.NullNode, nil:
			b.line(lineOf(n), path+" has no value; give one, or leave the setting out")
			return nil
		default:
			return n
		}
	}
	b.line(lineOf(n), path+" is an alias of itself; write the value itself")
	return nil
}

// eachItem calls f for every key of a mapping.
func (b *binder) eachItem(path string, n ast.Node, f func(key string, item *ast.MappingValueNode)) {
	mapping, ok := n.(ast.MapNode)
	if !ok {
		b.line(lineOf(n), strings.TrimSpace(path+" is no mapping; write settings below it, each as name: value"))
		return
	}
	if b.depth++; b.depth > maxDepth {
		b.line(lineOf(n), path+" is nested too deep; unfold its aliases")
		return
	}
	defer func() { b.depth-- }()
	seen := make(map[string]bool)
	for items := mapping.MapRange(); items.Next(); {
		item := items.KeyValue()
		key := item.Key.GetToken().Value
		switch {
		case item.Key.IsMergeKey():
			b.line(lineOf(item.Key), "merge keys (<<) are not taken; write the settings out")
		case seen[key]:
			b.line(lineOf(item.Key), fmt.Sprintf("%s is there twice; keep one", below(path, key)))
		default:
			seen[key] = true
			b.mark(below(path, key), lineOf(item.Key))
			f(key, item)
		}
	}
}

// field fills the field of a struct that has the name key. Names that begin with
// "x-" at the top are the operator's own, to hold anchors.
func (b *binder) field(path, key string, item *ast.MappingValueNode, v reflect.Value) {
	var names []string
	for f := range fieldsOf(v) {
		if f.name != key {
			names = append(names, f.name)
			continue
		}
		before := len(b.all)
		b.literal, b.exact = f.Tag.Get("literal") != "", f.Tag.Get("exact") != ""
		b.value(below(path, key), item.Value, f.value)
		b.literal, b.exact = false, false
		if len(b.all) == before && hiddenDefault(&f) && !b.isLater(below(path, key)) {
			b.line(lineOf(item.Key), below(path, key)+" is zero, which would mean its default; write another value, or leave it out")
		}
		return
	}
	switch {
	case path == "" && strings.HasPrefix(key, "x-"):
		b.resolve(key, item.Value)
		return
	case path == "" && key == "profiles" && !b.inProfile:
		b.profiles(item.Value)
		return
	}
	b.line(lineOf(item.Key), fmt.Sprintf("there is no setting %.40q%s%s", Redact(key), in(path), nearest(key, names)))
}

// hiddenDefault says whether a number or a duration that somebody wrote is zero, and would
// therefore be taken for one that is left out. A field that zero:"none" marks means none or no
// limit by it, as its default does.
func hiddenDefault(f *field) bool {
	return (f.value.CanInt() || f.value.CanFloat()) && f.value.IsZero() && f.Tag.Get("zero") != "none"
}

func in(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

func (b *binder) list(path string, n ast.Node, v reflect.Value) {
	sequence, ok := n.(*ast.SequenceNode)
	if !ok {
		b.line(lineOf(n), path+" is no list; write it as [a, b] or with a line - a for each")
		return
	}
	if !v.IsNil() { // an earlier file has the list
		earlier := func(where string) bool { return strings.HasPrefix(where, path+"[") }
		maps.DeleteFunc(b.later, func(where string, _ bool) bool { return earlier(where) })
		maps.DeleteFunc(b.places, func(where string, _ place) bool { return earlier(where) })
	}
	v.Set(reflect.MakeSlice(v.Type(), len(sequence.Values), len(sequence.Values)))
	for i, one := range sequence.Values {
		b.value(fmt.Sprintf("%s[%d]", path, i), one, v.Index(i))
	}
}

// below is the path of a setting in another.
func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func lineOf(n ast.Node) int {
	if n == nil || reflect.ValueOf(n).IsNil() {
		return 0
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// nearest suggests a name for one that is misspelt, or lists what there is.
func nearest(key string, names []string) string {
	if best := Alike(key, names); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	slices.Sort(names)
	return "; there are " + strings.Join(names, ", ")
}

// Alike returns the name that is spelt most like key, with two slips at most, or nothing.
func Alike(key string, names []string) string {
	plain := func(s string) string {
		return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(s))
	}
	best, least := "", 3
	for _, name := range names {
		if d := distance(plain(key), plain(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is the number of edits from a to b (Levenshtein); long texts are far
// from everything.
func distance(a, b string) int {
	if len(a) > 40 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			corner, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, corner+cost)
		}
	}
	return row[len(b)]
}
