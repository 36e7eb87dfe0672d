package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/format"
)

func TestAFormatBecomesItsEncoder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]broker.Encoder{
		"{kind: plain}":       format.Plain{Names: format.Names{ID: "Postbag-Id", Key: "Postbag-Key", Type: "Postbag-Type", Time: "Postbag-Time"}},
		"{kind: cloudevents}": format.CloudEvents{Mode: format.Binary, Subject: format.SubjectKey, AMQPPrefix: "cloudEvents_"},
		"{kind: plain, names: {id: A, key: B, type: C, time: D, topic: E, seq: F, box: G, subscription: H}, reserved: true, dispatched_at: true, content_type: a/b}": format.Plain{
			Names:    format.Names{ID: "A", Key: "B", Type: "C", Time: "D", Topic: "E", Seq: "F", Box: "G", Subscription: "H"},
			Reserved: true, DispatchedAt: true, ContentType: "a/b",
		},
		"{kind: cloudevents, source: /s, mode: structured, subject: none, content_type: '-', extensions: {a: b}, amqp_prefix: 'ce-'}": format.CloudEvents{
			Source: "/s", Mode: format.Structured, Subject: format.SubjectNone, ContentType: "-", Extensions: map[string]string{"a": "b"}, AMQPPrefix: "ce-",
		},
		"{kind: debezium}": format.Debezium{
			Route: "outbox.event.${routedByValue}", Fields: []format.Field{{Column: "type", Placement: format.InHeader, Name: "eventType"}},
		},
		"{kind: debezium, fields: none}": format.Debezium{Route: "outbox.event.${routedByValue}", Fields: []format.Field{}},
		"{kind: debezium, route: r, fields: type:envelope, expand_json: true, tombstone: true}": format.Debezium{
			Route: "r", Fields: []format.Field{{Column: "type", Placement: format.InEnvelope}}, ExpandJSON: true, Tombstone: true,
		},
	} {
		f, err := Parse("f.yaml", []byte("store: {dsn: a.db}\ndestinations: {m: {stdout: {}}}\nsubscriptions: [{format: "+text+"}]\n"), testKinds())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := f.Subscriptions[0].Format.Encoder(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v (%v), want %+v", text, got, err, want)
		}
	}
	var none *Format
	if got, err := none.Encoder(); got != nil || err != nil {
		t.Errorf("no format is %+v (%v)", got, err)
	}
}

func TestAFormatsMistakesAreNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"{}":                                 {`subscriptions[0].format has the kind ""; choose one of`},
		"{kind: avro}":                       {`the kind "avro"`},
		"{type: plain}":                      {`there is no setting "type" in subscriptions[0].format`},
		"{kind: plain, source: /x, mode: y}": {"format.source is no setting of the format plain", "format.mode is no setting"},
		"{kind: plain, names: {ids: x}}":     {`did you mean "id"?`},
		"{kind: plain, names: {id: 'a b', key: Host}}":              {`"a b" is not a token`, `"Host" means something`},
		"{kind: cloudevents, mode: x, subject: y}":                  {`Mode "x"`, `Subject "y"`},
		"{kind: debezium, fields: type}":                            {`"type" is not column:placement`},
		"{kind: debezium, fields: 'type:partition,type:header:id'}": {`"partition" is unknown`, `"id" is there already`},
	} {
		_, err := Parse("f.yaml", []byte("store: {dsn: a.db}\ndestinations: {m: {stdout: {}}}\nsubscriptions:\n- format: "+text+"\n"), testKinds())
		if err == nil {
			t.Errorf("%s: it was taken", text)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) || !strings.Contains(err.Error(), "f.yaml:4: ") {
				t.Errorf("%s: the error is\n%v\nwant one that says\n%s", text, err, w)
			}
		}
	}
	f := Format{Kind: "avro"}
	if _, err := f.Encoder(); err == nil {
		t.Error("a kind that is none has an encoder")
	}
}
