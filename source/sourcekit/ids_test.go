package sourcekit_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
	"github.com/postbag/postbag/store"
)

const uuid = "0198a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"

func uuidBytes(t *testing.T) string {
	t.Helper()
	id, err := postbag.ParseID(uuid)
	if err != nil {
		t.Fatal(err)
	}
	return string(id[:])
}

func with(headers ...string) *source.Message {
	m := &source.Message{}
	for i := 0; i < len(headers); i += 2 {
		m.Headers = append(m.Headers, source.Header{Name: headers[i], Value: headers[i+1]})
	}
	return m
}

func TestTheFirstRuleThatFindsAnIDDecides(t *testing.T) {
	t.Parallel()
	structured := &source.Message{ContentType: "application/cloudevents+json; charset=UTF-8", Payload: []byte(`{"id":"7","source":"/orders","data":{"id":"8"}}`)}
	named := with("content-type", "Application/CloudEvents+JSON")
	named.Payload = []byte(`{"id":"7","source":"/orders"}`)
	property := with("Postbag-Id", "")
	property.MessageID = "m-1"
	placed := &source.Message{Place: source.Place{Source: "orders", Partition: "3", Offset: 7}}
	for want, m := range map[string]*source.Message{
		"Postbag-Id":      with("id", "debezium", "postbag-id", uuid, "Idempotency-Key", "k"),
		"cloudevents":     with("Idempotency-Key", "k", "ce_source", "/orders", "ce_id", "7"),
		"Idempotency-Key": with("id", "debezium", "idempotency-key", "k"),
		"id":              with("id", "debezium"),
		"message-id":      property,
		"webhook-id":      with("Webhook-Id", "msg_1"),
		"Nats-Msg-Id":     with("Nats-Msg-Id", "x"),
		"place":           placed,
	} {
		id, rule, err := sourcekit.DefaultIDs().Of(m)
		if err != nil || rule != want || id == "" || len(id) > sourcekit.MaxID {
			t.Errorf("the rule %q is wanted, %q finds %q, %v", want, rule, id, err)
		}
	}
	for _, m := range []*source.Message{structured, named} {
		if id, rule, _ := sourcekit.DefaultIDs().Of(m); rule != "cloudevents" || id != "cloudevents:\x07/orders7" {
			t.Errorf("a structured event has the id %q of %q", id, rule)
		}
	}
	if _, _, err := sourcekit.DefaultIDs().Of(with("other", "x")); !errors.Is(err, sourcekit.ErrNoID) {
		t.Errorf("a message without an id: %v", err)
	}
}

func TestAUUIDIsTheSameIDInWhateverHeader(t *testing.T) {
	t.Parallel()
	want := uuidBytes(t)
	event, err := json.Marshal(map[string]string{"id": uuid, "source": "/a"})
	if err != nil {
		t.Fatal(err)
	}
	structured := with("content-type", "application/cloudevents+json")
	structured.Payload = event
	property := &source.Message{MessageID: uuid}
	for name, m := range map[string]*source.Message{
		"plain": with("Postbag-Id", uuid), "upper case": with("Postbag-Id", strings.ToUpper(uuid)), "http": with("Ce-Id", uuid, "Ce-Source", "/b"),
		"kafka": with("ce_id", uuid), "amqp": with("cloudEvents_id", uuid), "old amqp": with("cloudEvents:id", uuid),
		"mqtt": with("specversion", "1.0", "id", uuid), "structured": structured, "debezium": with("id", uuid), "property": property,
	} {
		if id, _, err := sourcekit.DefaultIDs().Of(m); err != nil || id != want {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
}

func TestEventsOfDifferentSourcesAreDifferent(t *testing.T) {
	t.Parallel()
	rule := sourcekit.FromCloudEvents()
	a, _ := rule.Find(with("ce-id", "17", "ce-source", "/a"))
	b, _ := rule.Find(with("ce-id", "7", "ce-source", "/a1"))
	c, _ := rule.Find(with("ce-id", "17", "ce-source", "/b"))
	if a == b || a == c || b == c {
		t.Errorf("ids %q, %q and %q", a, b, c)
	}
	for _, m := range []*source.Message{
		{ContentType: "application/json", Payload: []byte(`{"id":"7"}`)},
		{ContentType: "application/cloudevents+json", Payload: []byte(`{"id":7}`)},
		{ContentType: "application/cloudevents+json", Payload: []byte(`{`)},
		{ContentType: "application/cloudevents+json", Payload: []byte(`{"source":"/a"}`)},
		with("ce_id", ""),
	} {
		if id, ok := rule.Find(m); ok {
			t.Errorf("%q is an id of %q", id, m.Payload)
		}
	}
}

func TestEqualTextsInDifferentHeadersAreDifferentIDs(t *testing.T) {
	t.Parallel()
	a, _ := sourcekit.FromHeader("a").Find(with("a", "1"))
	b, _ := sourcekit.FromHeader("b").Find(with("b", "1"))
	if a != "a:1" || b != "b:1" {
		t.Errorf("ids %q and %q", a, b)
	}
}

func TestTheCaseOfAHeadersNameDoesNotMakeAnotherID(t *testing.T) {
	t.Parallel()
	a, _ := sourcekit.FromHeader("event-id").Find(with("Event-Id", "1"))
	b, _ := sourcekit.FromHeader("Event-ID").Find(with("event-id", "1"))
	if a != "event-id:1" || b != a {
		t.Errorf("ids %q and %q", a, b)
	}
}

func TestAnIDThatIsTooLongIsItsHash(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, value := range []string{strings.Repeat("x", 253), strings.Repeat("x", 254), strings.Repeat("x", 255), strings.Repeat("x", 10_000), strings.Repeat("x", 9999) + "y"} {
		id, ok := sourcekit.FromHeader("a").Find(with("a", value))
		if !ok || len(id) > sourcekit.MaxID || seen[id] {
			t.Errorf("%d bytes become the id %q", len(value), id)
		}
		seen[id] = true
	}
	name := strings.Repeat("n", 300)
	if id, ok := sourcekit.FromHeader(name).Find(with(name, "1")); !ok || len(id) > sourcekit.MaxID {
		t.Errorf("a long name makes an id of %d bytes", len(id))
	}
}

func TestPlacesThatDifferMakeIDsThatDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]source.Place{}
	for _, p := range []source.Place{
		{Source: "a", Partition: "b1", Offset: 1},
		{Source: "ab", Partition: "1", Offset: 1},
		{Source: "ab1", Offset: 1},
		{Source: "ab1", Offset: 2},
		{Source: "ab1", Minor: 1},
		{Source: "ab1", Offset: 1 << 40},
		{Source: strings.Repeat("long", 100), Offset: 1},
	} {
		id, ok := sourcekit.FromPlace().Find(&source.Message{Place: p})
		if other, there := seen[id]; !ok || there || len(id) > sourcekit.MaxID {
			t.Errorf("%v and %v have the id %q", p, other, id)
		}
		seen[id] = p
	}
}

func TestAHashIsThatOfTopicKeyAndPayload(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	rule := sourcekit.FromHash()
	for _, m := range []source.Message{
		{}, {Null: true}, {Payload: []byte{1}}, {Payload: []byte{0}}, {Topic: "a"}, {Key: "a"}, {Topic: "ab", Key: "c"}, {Topic: "a", Key: "bc"},
	} {
		id, ok := rule.Find(&m)
		if !ok || seen[id] {
			t.Errorf("%+v has the id %q of another", m, id)
		}
		seen[id] = true
		m.Headers, m.Deliveries = source.Headers{{Name: "trace", Value: "x"}}, 3
		if again, _ := rule.Find(&m); again != id {
			t.Errorf("%+v has another id when it comes again", m)
		}
	}
	if _, ok := rule.Find(&source.Message{Err: source.ErrTooLarge}); ok {
		t.Error("a message that is not whole has a hash")
	}
}

func TestIDsPerTopicDifferByTopic(t *testing.T) {
	t.Parallel()
	rule := sourcekit.PerTopic(sourcekit.FromHeader("n"))
	a, b := with("n", "1"), with("n", "1")
	a.Topic, b.Topic = "a", "b"
	ida, ok := rule.Find(a)
	idb, _ := rule.Find(b)
	if !ok || ida == idb {
		t.Errorf("ids %q and %q", ida, idb)
	}
	if _, ok := rule.Find(&source.Message{Topic: "a"}); ok {
		t.Error("a topic alone is an id")
	}
}

func TestNamesAndLimitsAreThoseOfTheOtherSeams(t *testing.T) {
	t.Parallel()
	if sourcekit.MaxID != store.MaxMessageID {
		t.Errorf("MaxID is %d, store.MaxMessageID %d", sourcekit.MaxID, store.MaxMessageID)
	}
	if id, _ := sourcekit.FromHeader(broker.HeaderID).Find(with(broker.HeaderID, uuid)); id != uuidBytes(t) || sourcekit.DefaultIDs()[0].Name != broker.HeaderID {
		t.Error("the first rule is not the header that a relay writes")
	}
	if key := sourcekit.DefaultKeys(broker.BindingKafka).Of(with(broker.HeaderKey, "k")); key != "k" {
		t.Errorf("the key of a relay is %q", key)
	}
	for _, binding := range []string{broker.BindingHTTP, broker.BindingNATS} {
		for _, key := range []string{"plain", "grün 100%", "a+b/c%2Fd"} {
			if got := sourcekit.DefaultKeys(binding).Of(with(broker.HeaderKey, broker.Escape(key, ""))); got != key {
				t.Errorf("%s: the key %q comes as %q", binding, key, got)
			}
		}
	}
}

func TestTheFirstRuleThatFindsAKeyDecides(t *testing.T) {
	t.Parallel()
	m := with("Postbag-Key", "header", "ce_partitionkey", "event")
	if key := sourcekit.DefaultKeys("kafka").Of(m); key != "header" {
		t.Errorf("the key is %q", key)
	}
	m.Key = "own"
	if key := sourcekit.DefaultKeys("kafka").Of(m); key != "own" {
		t.Errorf("the key is %q", key)
	}
	for headers, want := range map[*source.Message]string{
		with("specversion", "1.0", "partitionkey", "event"): "event", with("partitionkey", "none"): "", // as in MQTT
		with("Postbag-Key", "100%25", "specversion", "1.0", "partitionkey", "event"): "100%",
	} {
		if key := sourcekit.DefaultKeys("mqtt").Of(headers); key != want {
			t.Errorf("the key is %q, want %q", key, want)
		}
	}
	if kind := sourcekit.TypeRule("mqtt")(with("Postbag-Type", "100%25")); kind != "100%" {
		t.Errorf("the type is %q", kind)
	}
	if kind := sourcekit.TypeRule("mqtt")(with("specversion", "1.0", "type", "100%25")); kind != "100%25" {
		t.Errorf("the type of an event is %q", kind)
	}
	for headers, want := range map[*source.Message]string{
		with("id", uuid, "eventType", "order.placed"):                          "order.placed", // Debezium's
		with("eventType", "order.placed"):                                      "",
		with("id", uuid, "eventType", "other", "Postbag-Type", "order.placed"): "order.placed",
	} {
		if kind := sourcekit.TypeRule("kafka")(headers); kind != want {
			t.Errorf("the type is %q, want %q", kind, want)
		}
	}
	own := sourcekit.Keys{func(m *source.Message) string { return string(m.Payload) }, sourcekit.KeyHeader("ce_partitionkey")}
	if key := own.Of(m); key != "event" {
		t.Errorf("the key is %q", key)
	}
	if key := own.Of(&source.Message{}); key != "" {
		t.Errorf("a message without a key has %q", key)
	}
	if key := sourcekit.DefaultKeys("nats").Of(with("Postbag-Key", "50%")); key != "50%" {
		t.Errorf("a key that is badly encoded is %q", key)
	}
}

func FuzzIDsAreBoundedAndTheSameEachTime(f *testing.F) {
	f.Add("ce_id", "7", "application/cloudevents+json", []byte(`{"id":"x"}`), "orders", uint64(1))
	f.Add("id", uuid, "", []byte(nil), "", uint64(0))
	f.Fuzz(func(t *testing.T, name, value, contentType string, payload []byte, place string, offset uint64) {
		m := source.Message{
			Headers: source.Headers{{Name: name, Value: value}}, ContentType: contentType, Payload: payload,
			Place: source.Place{Source: place, Offset: offset},
		}
		rules := append(sourcekit.DefaultIDs(), sourcekit.FromHeader(name), sourcekit.FromHash())
		for _, r := range append(rules, sourcekit.PerTopic(rules[0])) {
			id, ok := r.Find(&m)
			again, _ := r.Find(&m)
			if ok && (id == "" || len(id) > sourcekit.MaxID) || id != again {
				t.Fatalf("%s finds %q and %q", r.Name, id, again)
			}
		}
		if _, _, err := rules.Of(&m); err != nil {
			t.Fatalf("a hash is always found: %v", err)
		}
		sourcekit.DefaultKeys("http").Of(&m)
	})
}

func TestTheSignedIdOfAWebhookGoesBeforeAllOthers(t *testing.T) {
	t.Parallel()
	m := with("Postbag-Id", uuid, "ce-id", "7", "Idempotency-Key", "k", "Webhook-Id", "msg_1")
	if id, rule, err := sourcekit.DefaultIDsFor(broker.BindingHTTP).Of(m); err != nil || rule != "webhook-id" || id != "webhook-id:msg_1" {
		t.Errorf("over HTTP the id is %q of %q, %v", id, rule, err)
	}
	if _, rule, err := sourcekit.DefaultIDsFor(broker.BindingKafka).Of(m); err != nil || rule != "Postbag-Id" {
		t.Errorf("over Kafka the id is of %q, %v", rule, err)
	}
	if _, rule, err := sourcekit.DefaultIDsFor(broker.BindingHTTP).Of(with("Idempotency-Key", "k")); err != nil || rule != "Idempotency-Key" {
		t.Errorf("without the signed id it is of %q, %v", rule, err)
	}
}
