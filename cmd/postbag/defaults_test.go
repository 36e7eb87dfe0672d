package main

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/duration"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/format"
	"github.com/postbag/postbag/internal/core"
	"github.com/postbag/postbag/internal/engine"
)

// sparse has every kind of setting, and says of each as little as may be.
const sparse = `
store: {dsn: "postgres://a/b", sql_comments: {}, replica: {dsn: "postgres://c/b"}}
destinations:
  nats: {nats: {url: "nats://a"}}
  kafka: {kafka: {url: "kafka://a", create: {}, transactions: {}}}
  bare: {kafka: {url: "kafka://a"}}
  simple: {rabbitmq: {url: "amqp://a"}}
  rabbitmq: {rabbitmq: {url: "amqp://a", topology: {exchanges: [{name: a}], queues: [{name: a}], bindings: [{exchange: a, queue: a}]}}}
  redis: {redis: {url: "redis://a"}}
  mqtt: {mqtt: {url: "mqtt://a"}}
  webhook: {webhook: {url: "https://a", secrets_env: [POSTBAG_TEST_SECRET]}}
  stdout: {stdout: }
boxes: {outbox: {retention: {}}}
otel: {}
console: {prometheus: {}, tls: {}, proxy: {}, oidc: {}, redact: {}}
subscriptions:
  - {to: nats}
  - {to: kafka, name: once, exactly_once: true}
  - {to: kafka, name: large, exactly_once: true, batch: 3000}
  - {to: stdout, name: plain, format: {kind: plain}}
  - {to: stdout, name: cloudevents, format: {kind: cloudevents}}
  - {to: stdout, name: debezium, format: {kind: debezium}}
  - {to: nats, name: letters, dead_to: {box: dead}}
  - {to: nats, name: ruled, retry: {rules: [{types: [a]}, {errors: [a]}]}}
  - {to: nats, name: narrow, where: {except: [{types: [a]}, {topics: [a]}]}}
  - {to: nats, name: routed, routes: {list: [{name: a, where: {types: [a]}}], no_fallback: true}}
  - {to: nats, name: parted, routes: {list: [{name: a, where: {types: [a]}}], fallback: {name: rest}}}
sources:
  - {from: {nats: {url: "nats://a", stream: a, consumer: a}}}
  - {name: b, from: {kafka: {url: "kafka://a", group: a, topics: [a]}}}
  - {name: c, from: {rabbitmq: {url: "amqp://a", queue: a, topology: {exchanges: [{name: a}], queues: [{name: a}], bindings: [{exchange: a, queue: a}]}}}}
  - {name: d, from: {redis: {url: "redis://a", group: a, topics: [a]}}}
  - {name: e, from: {mqtt: {url: "mqtt://a", client_id: a, filters: [a]}}}
  - {name: f, from: {webhook: {listen: "8080", secrets_env: [POSTBAG_TEST_SECRET]}}}
`

func parsed(t *testing.T, text string) *config.File {
	t.Helper()
	f, err := config.Parse("postbag.yaml", []byte(text), component.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// instances finds every value of each setting that has a tag for its default, by type and field.
type instances map[string][]reflect.Value

func (all instances) add(v reflect.Value, tags map[string]reflect.StructTag) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			all.add(v.Elem(), tags)
		}
	case reflect.Slice:
		for i := range v.Len() {
			all.add(v.Index(i), tags)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			all.add(v.MapIndex(key), tags)
		}
	case reflect.Struct:
		for f, value := range v.Fields() {
			if f.Tag.Get("default") != "" || f.Tag.Get("otherwise") != "" {
				name := v.Type().Name() + "." + f.Name
				all[name], tags[name] = append(all[name], value), f.Tag
			}
			if f.IsExported() {
				all.add(value, tags)
			}
		}
	default:
	}
}

// isWritten says whether a value is what text says in a file.
func isWritten(v reflect.Value, text string) bool {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() {
		return false
	}
	switch value := v.Interface().(type) {
	case time.Duration:
		d, err := duration.Parse(text)
		return err == nil && d == value
	case config.Size:
		return fmt.Sprintf("%dMiB", value>>20) == text
	default:
		return fmt.Sprint(value) == text
	}
}

// What the reference says of a default is what the program works with: the settings of a file that says nothing have it.
func TestASettingThatIsLeftOutHasTheDefaultOfItsTag(t *testing.T) {
	t.Parallel()
	f := parsed(t, sparse)
	for range 2 { // flags have a file checked again
		all, tags := make(instances), make(map[string]reflect.StructTag)
		all.add(reflect.ValueOf(f), tags)
		for name, values := range all {
			text, words := tags[name].Get("default"), tags[name].Get("otherwise")
			found := false
			for _, v := range values {
				found = found || text != "" && isWritten(v, text) || words != "" && v.IsZero()
			}
			dependent := map[string]bool{"Subscription.Batch": true, "Subscription.InFlight": true, "Subscription.To": true, "File.Subscriptions": true, "File.Sources": true, "File.Boxes": true, "Intake.Name": true}
			if !found && !dependent[name] {
				t.Errorf("%s is %v, and its tag says %s%s", name, values, text, words)
			}
		}
		if n := len(all); n < 100 {
			t.Errorf("only %d settings have a default", n)
		}
		if err := f.Check("again", component.Kinds()); err != nil {
			t.Fatal(err)
		}
	}
}

// The settings of every kind that there is are in the file of the test above.
func TestTheSparseFileHasEverySettingThatHasADefault(t *testing.T) {
	t.Parallel()
	all, tags := make(instances), make(map[string]reflect.StructTag)
	all.add(reflect.ValueOf(parsed(t, sparse)), tags)
	var walk func(of reflect.Type)
	walk = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(of.Elem())
		case reflect.Struct:
			for f := range of.Fields() {
				if (f.Tag.Get("default") != "" || f.Tag.Get("otherwise") != "") && tags[of.Name()+"."+f.Name] == "" {
					t.Errorf("the sparse file has no %s.%s", of.Name(), f.Name)
				}
				if f.IsExported() {
					walk(f.Type)
				}
			}
		default:
		}
	}
	walk(reflect.TypeFor[config.File]())
	for _, kind := range component.Kinds().Destinations {
		walk(reflect.TypeOf(kind.New()))
	}
	for _, kind := range component.Kinds().Sources {
		walk(reflect.TypeOf(kind.New()))
	}
}

func TestDefaultsThatDependOnOtherSettingsAreWhatTheirWordsSay(t *testing.T) {
	f := parsed(t, sparse)
	for i, want := range [][2]int{{500, 1000}, {1000, 1000}, {3000, 3000}} {
		if s := f.Subscriptions[i]; s.Batch != want[0] || s.InFlight != want[1] {
			t.Errorf("%s has batch %d and in_flight %d, want %v", s.Name, s.Batch, s.InFlight, want)
		}
	}
	one := parsed(t, "store: {dsn: a.db}\ndestinations: {m: {stdout: }}\n")
	if len(one.Subscriptions) != 1 || one.Subscriptions[0].To != "m" || one.Subscriptions[0].Name != "default" {
		t.Errorf("a file without subscriptions has %+v", one.Subscriptions)
	}
	several := parsed(t, "stores: {a: {dsn: a.db}}\ndestinations: {m: {stdout: }}\n")
	if several.Subscriptions[0].Store != "a" || several.Stores["a"].MaxConns != 4 || several.Store != (config.Store{}) {
		t.Errorf("a file with stores has %+v", several)
	}
	normal := engine.Config{}.Normal()
	if normal.Calls != 4 || normal.RetryBatch != normal.Batch/4 || normal.PollMax != time.Second || core.SharedPollMax != 500*time.Millisecond {
		t.Errorf("the relay itself makes %d calls, of %d parked messages, and waits %v and %v", normal.Calls, normal.RetryBatch, normal.PollMax, core.SharedPollMax)
	}
	t.Setenv("POSTBAG_TEST_SECRET", webhook.NewSecret())
	hook, err := component.OpenDestination(t.Context(), "webhook", f.Destinations["webhook"], &terminal.Terminal{Out: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if calls := (engine.Config{MaxBatch: hook.Features().MaxBatch}).Normal().Calls; calls != 32 {
		t.Errorf("a webhook has %d calls", calls)
	}
	if err := hook.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A program with a relay of its own has the defaults of the daemon.
func TestTheDaemonHasTheDefaultsOfTheLibrary(t *testing.T) {
	t.Parallel()
	s, normal := parsed(t, sparse).Subscriptions[0], engine.Config{}.Normal()
	daemon := []any{s.Batch, s.InFlight, s.MaxHeld, int(s.Buffer), s.Retry.Min, s.Retry.Max, s.Retry.Factor, s.Retry.MaxAttempts, s.Retry.Quick}
	library := []any{
		normal.Batch, normal.InFlight, normal.MaxHeld, normal.Buffer,
		normal.Retry.Min, normal.Retry.Max, normal.Retry.Factor, normal.Retry.MaxAttempts, normal.Retry.Quick,
	}
	if !reflect.DeepEqual(daemon, library) {
		t.Errorf("the daemon has %v, the library %v", daemon, library)
	}
	message := broker.Delivery{
		Message: postbag.Message{ID: postbag.NewID(), Topic: "orders", Key: "k", Type: "order.placed", Payload: []byte(`{"a":1}`), Headers: map[string]string{"a": "b", "ce-tenant": "c"}},
		Box:     "outbox", Subscription: "s", Seq: 7, At: time.UnixMilli(1_700_000_000_000).UTC(), Attempt: 1,
	}
	for i, own := range []broker.Encoder{format.Plain{}, format.CloudEvents{}, format.Debezium{}} {
		filled, err := parsed(t, sparse).Subscriptions[3+i].Format.Encoder()
		if err != nil {
			t.Fatal(err)
		}
		for _, binding := range []string{broker.BindingHTTP, broker.BindingKafka, broker.BindingAMQP} {
			want, got := message, message
			if err := own.Encode(&want, binding); err != nil {
				t.Fatal(err)
			}
			if err := filled.Encode(&got, binding); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) { //nolint:govet // an encoder leaves the error of a delivery alone
				t.Errorf("%T by %s is %+v, want %+v", own, binding, got, want)
			}
		}
	}
}

// Flags say the same defaults as the settings that they stand for.
func TestFlagsOfTheRelayHaveTheDefaultsOfTheSettings(t *testing.T) {
	t.Parallel()
	settings := map[string]reflect.StructField{}
	take := func(of reflect.Type, names map[string]string) {
		for flag, name := range names {
			field, ok := of.FieldByName(name)
			if !ok {
				t.Fatalf("%v has no %s", of, name)
			}
			settings[flag] = field
		}
	}
	take(reflect.TypeFor[config.Subscription](), map[string]string{"box": "Box", "subscription": "Name", "from": "From", "order": "Order"})
	take(reflect.TypeFor[config.Log](), map[string]string{"log-format": "Format", "log-level": "Level"})
	take(reflect.TypeFor[config.Store](), map[string]string{"create": "Create"})
	found := 0
	newRelayCommand(&terminal.Terminal{}).Flags().VisitAll(func(f *pflag.Flag) {
		field, ok := settings[f.Name]
		if !ok {
			return
		}
		found++
		if want := field.Tag.Get("default"); f.DefValue != want {
			t.Errorf("--%s is %s if it is left out, the setting %s", f.Name, strconv.Quote(f.DefValue), strconv.Quote(want))
		}
	})
	if found != len(settings) {
		t.Errorf("%d of %d flags are there", found, len(settings))
	}
}
