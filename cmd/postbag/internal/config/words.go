package config

import (
	"reflect"
	"regexp"
	"strings"
	"unicode"
)

// goOption is a field of an adapter's options as its errors name it, with the
// package before it.
var goOption = regexp.MustCompile(`(?:\b[a-z]+: )?\b(Source|Stream|Receiver)?Options\.([A-Z]\w*(?:\.[A-Z]\w*)*)`)

// sourceWords are the settings of sources that have another name than their field of Go.
var sourceWords = map[string]string{"from": "since", "reset": "skip_deleted", "brokers": "url"}

// goWords are other words of Go in errors, and what a configuration file has for them.
var goWords = strings.NewReplacer(
	"with the store's Create option", "with create: true in the store (relay --create)",
	"use OpenStream", "name it as stream",
	"use OpenSource", "name a queue",
	"take from a queue with OpenSource", "name a queue in place of it",
	"source.OrderNone", "order: none",
	"source.OrderStream", "order: stream",
)

// InSettings returns the text of a library's error in the words of a configuration
// file: its authors name fields of Go, which no operator has seen. A field that is
// no setting stays as it is.
func (k Kinds) InSettings(text string) string {
	known := k.settings()
	return goOption.ReplaceAllStringFunc(goWords.Replace(text), func(found string) string {
		parts := goOption.FindStringSubmatch(found)
		fields := strings.Split(parts[2], ".")
		for i := range fields {
			fields[i] = snake(fields[i])
		}
		if name, other := sourceWords[fields[0]]; other && (parts[1] == "Source" || parts[1] == "Stream") {
			fields[0] = name
		}
		if fields[0] == "login" { // its settings stand in the destination itself
			fields = fields[1:]
		}
		for _, name := range fields {
			if !known[name] && !known[name+"_env"] && !known[name+"_file"] {
				return found
			}
		}
		if len(fields) == 0 {
			return "the login"
		}
		return strings.Join(fields, ".")
	})
}

// snake turns the name of a Go field into that of a setting: ReplicaWait, replica_wait.
func snake(name string) string {
	name = strings.ReplaceAll(name, "QoS", "Qos")
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// settings are the names of all settings, those of every kind of destination and source among them.
func (k Kinds) settings() map[string]bool {
	names := collectSettings(reflect.TypeFor[File](), make(map[string]bool))
	for _, kinds := range [][]Kind{k.Destinations, k.Sources} {
		for i := range kinds {
			collectSettings(reflect.TypeOf(kinds[i].New()), names)
		}
	}
	return names
}

func collectSettings(t reflect.Type, names map[string]bool) map[string]bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return collectSettings(t.Elem(), names)
	case reflect.Struct:
		for field := range t.Fields() {
			name := field.Tag.Get("yaml")
			if name != "" {
				names[name] = true
			}
			if name != "" || field.Anonymous {
				collectSettings(field.Type, names)
			}
		}
	default:
	}
	return names
}

// InFlags names flags in place of settings, in a text about a configuration that
// flags made: each setting, with its path, by the flag that says it.
func InFlags(text string, flags map[string]string) string {
	for path, flag := range flags {
		pattern := regexp.MustCompile(`(^|[\s,])` + regexp.QuoteMeta(path) + `($|[\s,;:])`)
		text = pattern.ReplaceAllString(text, "${1}"+flag+"${2}")
	}
	return text
}
