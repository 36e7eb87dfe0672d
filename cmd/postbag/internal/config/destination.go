package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// componentName is what people may call a store or a destination.
var componentName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}$`)

// Destination says where messages go: its kind, and the settings of that kind. In a file
// it is one setting, the kind, with those of the kind below it.
type Destination struct {
	// Kind is the name of its kind.
	Kind string
	// Settings are those of the kind.
	Settings Settings
}

// Settings are what a destination of one kind takes: a pointer to a struct. Each field has
// the tag yaml, its name in a file, and may have these:
//
//	default:"30s"        what it is if it is left out: the program fills that in
//	otherwise:"no limit" the same in words, where no single value says it; it stays zero, or depends on others
//	range:"1ms..1h"      the least and the most that a number or a duration may be
//	oneof:"text json"    the words that it may be; it has a default
//	zero:"none"          zero may be written; it means none or no limit, as the default does
//	literal:"true"       ${NAME} is part of the text
//	exact:"true"         spaces at the ends of a quoted text are part of it
//
// A text whose name ends in _env names an environment variable, one that ends in _file a
// file. Fields of embedded structs count as its own.
type Settings interface {
	// Check adds the mistakes that the tags do not tell. It looks at no file, no variable and no server.
	Check(r Report)
}

// Transactional is implemented by settings of a kind that may have transactions.
type Transactional interface{ HasTransactions() bool }

// HeaderChecker is implemented by settings of a kind that obeys some headers of messages.
type HeaderChecker interface {
	// CheckHeaders returns an error if headers hold what its destination rejects in any message.
	CheckHeaders(headers map[string]string) error
}

// TopicChecker is implemented by settings of a kind that has rules for topics.
type TopicChecker interface {
	// CheckTopic returns an error if its destination rejects every message of a topic.
	CheckTopic(topic string) error
}

// Echoing is implemented by settings of a kind of destination of which there are sources, too.
type Echoing interface {
	// Echoes says whether the settings show that what a source takes in and this destination
	// gets comes back to the source. It compares no addresses that only look different.
	Echoes(from Settings) bool
}

// Report takes the mistakes in the settings of one destination.
type Report struct {
	p     *problems
	where string
}

// Atf adds a mistake in a setting; an empty name means the destination itself. Of a setting
// whose value is not known on this machine nothing is said.
func (r Report) Atf(setting, format string, args ...any) { r.p.atf(r.at(setting), format, args...) }

// Shownf adds a mistake that the text of a setting shows, whatever the values of its variables
// are: a password beside them.
func (r Report) Shownf(setting, format string, args ...any) {
	r.p.shownf(r.at(setting), format, args...)
}

// Later says whether the value of a setting is known on another machine alone, so that it is
// not to be compared with that of another one.
func (r Report) Later(setting string) bool { return r.p.isLater(r.at(setting)) }

func (r Report) at(setting string) string {
	if setting == "" {
		return r.where
	}
	return below(r.where, setting)
}

// where is the path of the settings of d, which stands at path.
func (d *Destination) where(path string) string { return below(path, d.Kind) }

func (d *Destination) check(p *problems, path string) {
	if d.Settings == nil {
		return // the file's form is wrong, which was said
	}
	checkFields(p, d.where(path), reflect.ValueOf(d.Settings).Elem())
	d.Settings.Check(Report{p, d.where(path)})
}

// hasTransactions says whether exactly_once may be set for d.
func (d *Destination) hasTransactions() bool {
	if d.Settings == nil {
		return true // nothing is known of it, and that was said
	}
	t, ok := d.Settings.(Transactional)
	return ok && t.HasTransactions()
}

// Set sets a setting as a text in a file would, for flags. A list is given a member for each call.
func (d *Destination) Set(name, text string) error {
	field, ok := fieldNamed(reflect.ValueOf(d.Settings).Elem(), name)
	if !ok {
		var names []string
		for f := range fieldsOf(reflect.ValueOf(d.Settings).Elem()) {
			names = append(names, f.name)
		}
		if len(names) == 0 {
			return fmt.Errorf("is no setting of a destination of kind %s, which has none; leave it out", d.Kind)
		}
		return fmt.Errorf("is no setting of a destination of kind %s%s", d.Kind, nearest(name, names))
	}
	one := field.value
	if one.Kind() == reflect.Slice {
		one = reflect.New(one.Type().Elem()).Elem()
	}
	switch one.Kind() {
	case reflect.Struct:
		if _, ok := reflect.TypeAssert[scalarText](one); !ok {
			return errors.New("has settings of its own; use a configuration file")
		}
	case reflect.Map, reflect.Pointer, reflect.Slice:
		return errors.New("has settings of its own; use a configuration file")
	default:
	}
	if fix := setScalar(one, text, true); fix != "" {
		return errors.New(fix)
	}
	if field.value.Kind() == reflect.Slice {
		field.value.Set(reflect.Append(field.value, one))
	}
	return nil
}

// destination fills d from n: one of kinds, and its settings; what says whether it is a destination or a source. What an
// earlier file says of the same kind stays.
func (b *binder) destination(path string, n ast.Node, d *Destination, kinds []Kind, what string) {
	given := 0
	b.eachItem(path, n, func(key string, item *ast.MappingValueNode) {
		kind := find(kinds, key, "")
		if kind == nil || key == "" {
			b.line(lineOf(item.Key), noKind(path, key, kinds, what))
			return
		}
		if given++; given > 1 {
			b.line(lineOf(item.Key), fmt.Sprintf("%s has several kinds; keep one, and give the other a %s of its own", path, what))
			return
		}
		if d.Kind != kind.Name {
			*d = Destination{Kind: kind.Name, Settings: kind.New()}
		}
		if item.Value.Type() != ast.NullType { // a kind alone has its defaults
			b.value(below(path, key), item.Value, reflect.ValueOf(d.Settings).Elem())
		}
	})
	if m, ok := n.(ast.MapNode); ok && given == 0 && !m.MapRange().Next() {
		b.line(lineOf(n), fmt.Sprintf("%s has no kind; write one of %s, and its settings below it", path, namesOf(kinds)))
	}
}

// noKind says that a destination or a source has something in place of a kind.
func noKind(path, key string, kinds []Kind, what string) string {
	for i := range kinds {
		kind := &kinds[i]
		if _, ok := fieldNamed(reflect.ValueOf(kind.New()).Elem(), key); ok || key == "kind" {
			return fmt.Sprintf("%s stands in the %s itself; write its kind first, and the settings below it, as in %s: {nats: {url: nats://127.0.0.1:4222}}; there are %s",
				below(path, key), what, path[strings.LastIndex(path, ".")+1:], namesOf(kinds))
		}
	}
	names := make([]string, len(kinds))
	for i := range names {
		names[i] = kinds[i].Name
	}
	return fmt.Sprintf("there is no kind of %s %.40q%s%s", what, Redact(key), in(path), nearest(key, names))
}
