package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
)

// schemaOf makes the JSON Schema of settings out of their types, tags and comments.
type schemaOf struct {
	t    *testing.T
	docs map[string]string
}

type object = map[string]any

// expanded is a text with a variable of the environment in it, which may stand for any value.
const expanded = `\$\{`

func (s *schemaOf) structure(of reflect.Type) object {
	properties := make(object)
	s.fields(of, properties)
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}

func (s *schemaOf) fields(of reflect.Type, properties object) {
	for f := range of.Fields() {
		name := f.Tag.Get("yaml")
		if f.Anonymous {
			s.fields(f.Type, properties)
		}
		if name == "" {
			continue
		}
		one := s.value(f)
		text := settingText(s.t, of, f, s.docs)
		if normal := defaultOf(s.t, of, f); normal != "" {
			text += " Default: " + normal + "."
		}
		one["description"] = text
		if value, ok := f.Tag.Lookup("default"); ok {
			one["default"] = s.literal(f.Type, value)
		}
		properties[name] = one
	}
}

// literal is a default as a file may have it.
func (s *schemaOf) literal(of reflect.Type, text string) any {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	var value any
	var err error
	switch {
	case of.Kind() == reflect.Bool:
		value, err = strconv.ParseBool(text)
	case of.Kind() == reflect.Float64:
		value, err = strconv.ParseFloat(text, 64)
	case of.Kind() == reflect.Int && of != reflect.TypeFor[config.Size]():
		value, err = strconv.Atoi(text)
	default:
		return text
	}
	if err != nil {
		s.t.Errorf("the default %q: %v", text, err)
	}
	return value
}

// value is the schema of one setting.
func (s *schemaOf) value(f reflect.StructField) object {
	least, most, bounded := config.Range(f)
	of := f.Type
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case f.Tag.Get("oneof") != "":
		return object{"anyOf": []any{object{"enum": strings.Fields(f.Tag.Get("oneof"))}, object{"type": "string", "pattern": expanded}}}
	case of == reflect.TypeFor[time.Duration]():
		return object{"type": "string", "pattern": `^(-?[0-9.]+(ns|us|µs|ms|s|m|h|d|w))+$|^P|` + expanded}
	case of == reflect.TypeFor[config.Size]():
		return object{"type": []string{"integer", "string"}, "minimum": 1, "pattern": `^[0-9]+(KiB|MiB|GiB)?$|` + expanded}
	}
	if of == reflect.TypeFor[config.Origin]() {
		return s.kinds(component.Kinds().Sources)
	}
	if of == reflect.TypeFor[config.DeadTo]() {
		return object{"anyOf": []any{object{"type": "string"}, s.structure(of)}}
	}
	switch of.Kind() {
	case reflect.Bool:
		return object{"type": []string{"boolean", "string"}, "pattern": `^(true|false)$|` + expanded}
	case reflect.Int, reflect.Float64:
		one := object{"type": []string{"integer", "string"}, "pattern": expanded}
		if of.Kind() == reflect.Float64 {
			one["type"] = []string{"number", "string"}
		}
		if bounded {
			one["minimum"], one["maximum"] = least, most
		}
		return one
	case reflect.Struct:
		if of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return object{"type": "string"}
		}
		return s.structure(of)
	case reflect.Slice:
		return object{"type": "array", "items": s.value(reflect.StructField{Name: f.Name, Type: of.Elem()})}
	case reflect.Map:
		if of.Elem() == reflect.TypeFor[config.Destination]() {
			return object{"type": "object", "additionalProperties": s.kinds(component.Kinds().Destinations)}
		}
		return object{"type": "object", "additionalProperties": s.value(reflect.StructField{Name: f.Name, Type: of.Elem()})}
	case reflect.String:
		return object{"type": "string"}
	default:
		s.t.Fatalf("%s has the type %v, of which the schema says nothing", f.Name, of)
		return nil
	}
}

// kinds is the schema of a destination or a source with its kind.
func (s *schemaOf) kinds(of []config.Kind) object {
	kinds := make(object)
	for _, k := range of {
		one := s.structure(reflect.TypeOf(k.New()).Elem())
		one["type"] = []string{"object", "null"}
		kinds[k.Name] = one
	}
	return object{"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1, "properties": kinds}
}

func TestTheSchemaIsGeneratedFromTheReference(t *testing.T) {
	t.Parallel()
	s := &schemaOf{t, settingDocs(t)}
	root := s.structure(reflect.TypeFor[config.File]())
	profile := maps.Clone(root)
	profile["patternProperties"] = object{"^x-": object{}}
	all := maps.Clone(profile)
	properties, _ := root["properties"].(object)
	properties = maps.Clone(properties)
	all["properties"] = properties
	properties["profiles"] = object{
		"type": "object", "additionalProperties": object{"$ref": "#/$defs/profile"},
		"description": "Settings that take the place of those above where --profile names them, by a name of your choice.",
	}
	all["$schema"], all["title"], all["$defs"] = "https://json-schema.org/draft/2020-12/schema", "postbag.yaml", object{"profile": profile}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile("postbag.schema.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text, []byte(schema)) {
		t.Error("postbag.schema.json is not what the code says; write it again with go test -run Reference -update")
	}
}

// What the schema takes and refuses is what config check takes and refuses.
func TestTheSchemaAgreesWithTheCheck(t *testing.T) {
	t.Parallel()
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(cli(t, "config", "schema").ok().out))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("postbag.schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("postbag.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile(filepath.Join("testdata", "postbag.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const there = "store: {dsn: a.db}\ndestinations: {m: {stdout: {}}}\n"
	for text, right := range map[string]bool{
		string(example):      true,
		there + "ttl: P1M\n": true, // the check knows that a month is no duration; the schema knows its form
		there + "keep: 3d\nsubscriptions: [{order: key, buffer: 64MiB, batch: 7, types: [a.*], retry: {factor: 1.5}}]\nx-mine: {a: b}\n": true,
		there + "ttl: ${TTL:-15s}\nmaintenance: ${WORK:-true}\nprofiles: {a: {ttl: 3s, log: {format: json}}}\n":                          true,
		"store: {dsn: a.db}\ndestinations: {m: {stdout: }}\n":                                                                            true,
		"store: {dsn: a.db}\ndestinations: {m: {kafka: {url: 'kafka://a', transactions: {}, create: {partitions: 3}}}}\n":                true,
		"store: {dsn: a.db}\nsources: [{from: {nats: {url: 'nats://a', stream: a, consumer: b}}, id_headers: [X-Id], max_size: 1MiB}]\n": true,
		there + "subscriptions: [{dead_to: dead}, {name: b, dead_to: {box: dead, to: m}}]\n":                                             true,
		there + "subscriptions: [{dead_to: {box: dead, two: m}}]\n":                                                                      false,
		there + "subscriptions: [{dead_to: [dead]}]\n":                                                                                   false,
		there + "sources: [{from: {nats: {url: 'nats://a', stream: a, consumer: b, quue: c}}}]\n":                                        false,
		there + "sources: [{from: {stdout: {}}}]\n":                                                                                      false,
		there + "sources: [{from: {nats: {url: 'nats://a', stream: a, consumer: b}}, faults: perhaps}]\n":                                false,
		there + "sources: [{from: {nats: {url: 'nats://a', stream: a, consumer: b}}, too_large: head}]\n":                                true,
		there + "sources: [{from: {nats: {url: 'nats://a', stream: a, consumer: b}}, too_large: drop}]\n":                                false,
		there + "ttl: 15\n":                                                              false,
		there + "tttl: 15s\n":                                                            false,
		there + "log: {format: xml}\n":                                                   false,
		there + "subscriptions: [{batch: 0}]\n":                                          false,
		there + "subscriptions: [{batch: 1000000}]\n":                                    false,
		there + "maintenance: perhaps\n":                                                 false,
		there + "profiles: {a: {tttl: 3s}}\n":                                            false,
		"store: {dsn: a.db}\ndestinations: {m: {url: 'nats://a'}}\n":                     false,
		"store: {dsn: a.db}\ndestinations: {m: {nats: {url: 'nats://a', qos: 1}}}\n":     false,
		"store: {dsn: a.db}\ndestinations: {m: {nats: {url: 'nats://a'}, stdout: {}}}\n": false,
	} {
		var instance any
		if err := yaml.Unmarshal([]byte(text), &instance); err != nil {
			t.Fatal(err)
		}
		asJSON, err := json.Marshal(instance)
		if err != nil {
			t.Fatal(err)
		}
		if instance, err = jsonschema.UnmarshalJSON(bytes.NewReader(asJSON)); err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(instance); (err == nil) != right {
			t.Errorf("%s: the schema says %v", text, err)
		}
		_, err = config.Parse("f.yaml", []byte(text), component.Kinds())
		if (err == nil) != right && !strings.Contains(text, "P1M") {
			t.Errorf("%s: the check says %v", text, err)
		}
	}
}
