package config

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/duration"
)

// field is one setting of a struct.
type field struct {
	reflect.StructField

	name  string
	value reflect.Value
}

// fieldsOf are the settings of a struct, those of embedded structs among them.
func fieldsOf(v reflect.Value) iter.Seq[field] {
	return func(yield func(field) bool) { _ = eachField(v, yield) }
}

func eachField(v reflect.Value, yield func(field) bool) bool {
	for f, value := range v.Fields() {
		name := f.Tag.Get("yaml")
		switch {
		case f.Anonymous && value.Kind() == reflect.Struct:
			if !eachField(value, yield) {
				return false
			}
		case name != "" && !yield(field{f, name, value}):
			return false
		}
	}
	return true
}

// fieldNamed returns the setting of that name.
func fieldNamed(v reflect.Value, name string) (found field, ok bool) {
	for f := range fieldsOf(v) {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// checkFields adds the mistakes that names and tags tell, in v and all below it.
func checkFields(p *problems, where string, v reflect.Value) {
	set := make(map[string]bool)
	for f := range fieldsOf(v) {
		path := below(where, f.name)
		for _, text := range textsOf(f.value) {
			if strings.HasSuffix(f.name, "_env") {
				envName(p, path, text)
			} else if strings.HasSuffix(f.name, "_file") {
				fileName(p, path, text)
			}
		}
		if f.value.Kind() == reflect.String && f.value.String() != "" {
			set[f.name] = true
		}
		f.checkTags(p, path)
		if one := reflect.Indirect(f.value); one.IsValid() && one.Kind() == reflect.Struct && one.Type() != reflect.TypeFor[scalarText]() {
			checkFields(p, path, one)
		}
	}
	for _, name := range slices.Sorted(keys(set)) {
		if what, ok := strings.CutSuffix(name, "_env"); ok && what != "url" && what != "dsn" && set[what+"_file"] {
			p.atf(where, "has both %s_env and %s_file; keep one", what, what)
		}
	}
}

func keys(m map[string]bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// textsOf returns a text, or those of a list of texts.
func textsOf(v reflect.Value) []string {
	switch one := v.Interface().(type) {
	case string:
		return []string{one}
	case []string:
		return one
	}
	return nil
}

// checkTags checks a setting by its tags. What was left out has its default already.
func (f *field) checkTags(p *problems, path string) {
	if words := strings.Fields(f.Tag.Get("oneof")); len(words) > 0 {
		if value := f.value.String(); value != "" && !slices.Contains(words, value) {
			p.atf(path, "is %.40q; choose one of %s", Redact(value), strings.Join(words, ", "))
		}
	}
	least, most, bounded := Range(f.StructField)
	if !bounded || f.value.IsZero() {
		return
	}
	if f.value.Type() == reflect.TypeFor[time.Duration]() {
		if d := f.value.Int(); d < int64(least) || d > int64(most) {
			p.atf(path, "is %v; choose between %v and %v, or leave it out", time.Duration(d), time.Duration(least), time.Duration(most))
		}
		return
	}
	number := f.value.Interface()
	x := least - 1
	switch {
	case f.value.CanInt():
		x, number = float64(f.value.Int()), f.value.Int()
	case f.value.CanFloat():
		x = f.value.Float()
	}
	if !(x >= least && x <= most) { // not a number is out of every range
		p.atf(path, "is %v; choose between %s and %s, or leave it out", number, bound(least), bound(most))
	}
}

// bound is how a bound of a range is written.
func bound(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Range returns the least and the most that a field's tag says; of a duration in nanoseconds.
// A tag that cannot be read is a mistake in this program.
func Range(f reflect.StructField) (least, most float64, ok bool) {
	low, high, ok := strings.Cut(f.Tag.Get("range"), "..")
	if !ok {
		return 0, 0, false
	}
	read := func(text string) float64 {
		if f.Type == reflect.TypeFor[time.Duration]() {
			d, err := duration.Parse(text)
			if err != nil {
				panic(fmt.Sprintf("config: %s has the range %q: %v", f.Name, text, err))
			}
			return float64(d)
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(fmt.Sprintf("config: %s has the range %q: %v", f.Name, text, err))
		}
		return x
	}
	return read(low), read(high), true
}

// envName checks what should be the name of an environment variable. It is not
// quoted: it may be the secret itself.
func envName(p *problems, where, name string) {
	if name != "" && !environmentName.MatchString(name) {
		p.shownf(where, "is no name of an environment variable; write the variable's name, not its value")
	}
}

// fileName checks what should be a path.
func fileName(p *problems, where, path string) {
	if strings.Contains(path, "://") || strings.ContainsAny(path, "\r\n\x00") || HasPassword(path) {
		p.shownf(where, "is no path of a file; write the value into a file and name that")
	}
}
