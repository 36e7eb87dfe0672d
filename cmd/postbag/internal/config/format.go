package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/format"
)

// formatSettings are those of each kind of format, beside kind.
var formatSettings = map[string][]string{
	"plain":       {"content_type", "dispatched_at", "names", "reserved"},
	"cloudevents": {"amqp_prefix", "content_type", "extensions", "mode", "source", "subject"},
	"debezium":    {"expand_json", "fields", "route", "tombstone"},
}

// takes says whether a setting is one of the format's kind.
func (f *Format) takes(name string) bool { return slices.Contains(formatSettings[f.Kind], name) }

// check adds every mistake. A format that is not set has none.
func (f *Format) check(p *problems, where string) {
	if f == nil || p.isLater(below(where, "kind")) {
		return
	}
	takes, known := formatSettings[f.Kind]
	if !known {
		p.atf(where, "has the kind %.40q; choose one of cloudevents, debezium, plain", Redact(f.Kind))
		return
	}
	unfit := false
	for field, v := range reflect.ValueOf(f).Elem().Fields() {
		name := field.Tag.Get("yaml")
		if name != "kind" && !v.IsZero() && !slices.Contains(takes, name) {
			p.atf(below(where, name), "is no setting of the format %s, which takes %s; leave it out", f.Kind, strings.Join(takes, ", "))
			unfit = true
		}
	}
	if unfit || p.laterBelow(where) {
		return
	}
	if _, err := f.Encoder(); err != nil {
		for line := range strings.Lines(err.Error()) {
			p.atf(where, "is wrong: %s", strings.TrimPrefix(strings.TrimSpace(line), "format: "))
		}
	}
}

// Encoder returns what makes the form, nil for a format that is not set.
func (f *Format) Encoder() (broker.Encoder, error) {
	if f == nil {
		return nil, nil //nolint:nilnil // nothing is set, and nothing is wrong
	}
	var encoder broker.Encoder
	switch f.Kind {
	case "plain":
		encoder = format.Plain{
			Names: format.Names(f.Names), Reserved: f.Reserved, DispatchedAt: f.DispatchedAt, ContentType: f.ContentType,
		}
	case "cloudevents":
		encoder = format.CloudEvents{
			Source: f.Source, Mode: format.Mode(f.Mode), Subject: format.Subject(f.Subject), ContentType: f.ContentType,
			Extensions: f.Extensions, AMQPPrefix: f.AMQPPrefix,
		}
	case "debezium":
		d := format.Debezium{Route: f.Route, ExpandJSON: f.ExpandJSON, Tombstone: f.Tombstone}
		switch f.Fields {
		case "":
		case "none":
			d.Fields = []format.Field{}
		default:
			fields, err := format.ParseFields(f.Fields)
			if err != nil {
				return nil, err
			}
			d.Fields = fields
		}
		encoder = d
	default:
		return nil, fmt.Errorf("format: the kind %.40q is unknown; choose one of cloudevents, debezium, plain", Redact(f.Kind))
	}
	return encoder, format.Validate(encoder)
}
