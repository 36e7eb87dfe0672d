package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/plan"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/prompostbag"
)

// update writes the reference pages again, as in: go test -run Reference -update.
var update = flag.Bool("update", false, "write docs/reference again")

// page compares a page of docs/reference with what the code says.
func page(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "reference", name)
	want = strings.TrimRight(want, "\n") + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with go test -run Reference -update", err)
	}
	if string(got) == want {
		return
	}
	gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for i := range wantLines {
		if i >= len(gotLines) || gotLines[i] != wantLines[i] {
			t.Fatalf("docs/reference/%s is not what the code says from line %d on, want\n%s\nwrite it again with go test -run Reference -update",
				name, i+1, wantLines[i])
		}
	}
	t.Fatalf("docs/reference/%s has more lines than the code says; write it again with go test -run Reference -update", name)
}

func TestReferenceOfTheCommandLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Command line\n\n" +
		"`postbag` runs the relay as a daemon, and has the commands to operate it. Every command has `--help`. `postbag completion` makes shell\n" +
		"completions. Tables are for people. `--json` is for programs: the names of fields do not change. Messages for people go to standard error.\n\n" +
		"Never pass a secret as an argument: everybody on the machine can see arguments. A DSN or URL with a password is refused. Name an environment\n" +
		"variable (`--store-env`) or a file (`--store-file`) that holds it.\n\n## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for _, code := range exit.Codes() {
		fmt.Fprintf(&b, "| %d | %s |\n", code, code.Meaning())
	}
	root := newRoot(&terminal.Terminal{})
	for _, cmd := range root.Commands() {
		describe(&b, cmd)
	}
	b.WriteString("\n## JSON\n\nFields that are empty may be left out. Times are RFC 3339 in UTC.\n")
	items, status := fieldDocs(t, filepath.Join("..", "..", "internal", "operations", "message.go")), fieldDocs(t, filepath.Join("..", "..", "internal", "operations", "status.go"))
	fields(t, &b, "A message, of `messages list` (one a line) and `messages show` (a list)", reflect.TypeFor[operations.Message](), items)
	fields(t, &b, "history", reflect.TypeFor[operations.Attempt](), items)
	fields(t, &b, "The state of a store, of `status`", reflect.TypeFor[operations.Status](), status)
	fields(t, &b, "boxes", reflect.TypeFor[operations.Box](), status)
	fields(t, &b, "notices", reflect.TypeFor[operations.Notice](), status)
	fields(t, &b, "subscriptions", reflect.TypeFor[operations.Subscription](), status)
	fields(t, &b, "destination", reflect.TypeFor[operations.Destination](), status)
	fields(t, &b, "held", reflect.TypeFor[operations.HeldTopic](), status)
	fields(t, &b, "shard_list", reflect.TypeFor[operations.Shard](), status)
	fields(t, &b, "relays", reflect.TypeFor[operations.Relay](), status)
	subscriptions := fieldDocs(t, filepath.Join("..", "..", "internal", "operations", "subscriptions.go"))
	fields(t, &b, "The subscriptions, of `subscriptions list`", reflect.TypeFor[operations.SubscriptionList](), subscriptions)
	fields(t, &b, "A subscription, of `subscriptions list` and `subscriptions show`", reflect.TypeFor[operations.SubscriptionDetail](), subscriptions)
	fields(t, &b, "settings", reflect.TypeFor[operations.Setting](), subscriptions)
	fields(t, &b, "removed", reflect.TypeFor[operations.RemovedSubscription](), subscriptions)
	fields(t, &b, "A command for many messages, of `operations list` (a list) and `operations show`", reflect.TypeFor[operations.Operation](),
		fieldDocs(t, filepath.Join("..", "..", "internal", "operations", "operation.go")))
	plans := fieldDocs(t, filepath.Join("internal", "plan", "plan.go"))
	fields(t, &b, "A plan, of `plan` and `apply`", reflect.TypeFor[plan.Plan](), plans)
	fields(t, &b, "differences", reflect.TypeFor[plan.Difference](), plans)
	fields(t, &b, "notes", reflect.TypeFor[plan.Note](), plans)
	page(t, "cli.md", b.String())
}

// fields writes the table of a view's fields in JSON.
func fields(t *testing.T, b *strings.Builder, title string, of reflect.Type, docs map[string]string) {
	t.Helper()
	fmt.Fprintf(b, "\n### %s\n\n| field | |\n|---|---|\n", title)
	for f := range of.Fields() {
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() {
			continue
		}
		if f.Anonymous {
			name = "payload, payload_base64"
		}
		text := docs[of.Name()+"."+f.Name]
		if text == "" {
			t.Errorf("%s.%s has no comment: say what it is", of.Name(), f.Name)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, text)
	}
}

// describe writes a command and those below it.
func describe(b *strings.Builder, cmd *cobra.Command) {
	if cmd.Hidden || cmd.Name() == "completion" || cmd.Name() == "help" {
		return
	}
	if len(cmd.Commands()) == 0 || cmd.Example != "" { // a group has none
		long := cmd.Long
		if long == "" {
			long = cmd.Short + "."
		}
		fmt.Fprintf(b, "\n## %s\n\n%s\n", strings.TrimSuffix(cmd.UseLine(), " [flags]"), prose(long))
		if cmd.Example != "" {
			fmt.Fprintf(b, "\n```sh\n%s\n```\n", dedent(cmd.Example))
		}
		b.WriteString("\n| flag | |\n|---|---|\n")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				b.WriteString(flagRow(f))
			}
		})
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { b.WriteString(flagRow(f)) })
	}
	for _, sub := range cmd.Commands() {
		describe(b, sub)
	}
}

func flagRow(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	text := "`--" + f.Name
	if value != "" {
		text += " " + value
	}
	text += "`"
	if f.Shorthand != "" {
		text = "`-" + f.Shorthand + "`, " + text
	}
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" {
		usage += " (default " + f.DefValue + ")"
	}
	return fmt.Sprintf("| %s | %s |\n", text, escape(usage))
}

// escape keeps Markdown from seeing more in a text than it says.
func escape(text string) string { return strings.NewReplacer("|", `\|`, "*", `\*`).Replace(text) }

// prose sets indented parts of a help text as code.
func prose(text string) string {
	return regexp.MustCompile(`(?m)^ {2}(\S.*)$`).ReplaceAllString(text, "    $1")
}

func dedent(text string) string {
	return regexp.MustCompile(`(?m)^ {2}`).ReplaceAllString(text, "")
}

func TestReferenceOfTheMetrics(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Metrics\n\n" +
		"A relay serves metrics for Prometheus at `/metrics` of its admin listener (`admin.listen`, or `--admin`). Labels are boxes, subscriptions, sources and fixed words such as states and causes, and the store if there are several.\n" +
		"They never hold anything of a message. A relay's counters begin at zero when it starts. What is read from the store is the same on every relay: take the\n" +
		"maximum over relays, not the sum.\n\n" +
		"`postbag metrics -c postbag.yaml` serves what the store knows where no relay runs, and `postbag metrics --once` prints it. It asks the store at most once in 15 seconds, or as often as `--every` says.\n\n" +
		"If your program runs a relay, register `prompostbag.NewCollector(prompostbag.Options{Stats: rel.Stats, Store: store})`, from the module\n" +
		"`github.com/postbag/postbag/prompostbag`. Without `Stats` it shows only what the store knows, in a program without a relay.\n" +
		"Histograms come from a `prompostbag.NewObserver()`: register it, give its `Hooks()` to `relay.Options.Hooks`, and let its `Publisher` complete the options of your publishers.\n" +
		"If your program has [consumers](../guides/consume.md), give their `Stats` to `Options.Consumers`. Put `prompostbag.Handler(observer, \"billing\")` first into their `Use`: it measures how long your handler takes.\n" +
		"For OpenTelemetry there is [another module](../guides/tracing.md).\n\n" +
		"Alert on these:\n\n" +
		"- `max(postbag_oldest_seconds{subscription!~\"replay-.*\"}) > 300`: messages wait, whatever the reason. A [replay](../guides/replay.md) sends old messages: leave its name out.\n" +
		"- `max(postbag_parked{state=\"dead\"}) > 0`: messages are dead, and wait for you.\n" +
		"- `max(postbag_relays) == 0`, or no scrape at all: no relay works. With `postbag metrics`: `postbag_store_relays == 0`.\n" +
		"- `max(postbag_notices) > 0`: the store did something by itself, or retention refused to. `postbag status` says what.\n" +
		"- `postbag_circuit_open == 1` for some minutes: a destination is away or misconfigured.\n" +
		"- `histogram_quantile(0.99, sum by (le) (rate(postbag_delivery_latency_seconds_bucket[5m]))) > 1`: messages go out more slowly than you promised.\n" +
		"- `postbag_messages_held / postbag_messages_held_limit > 0.8`: topics do not work, or much is paused, and soon nothing more is read.\n" +
		"- `rate(postbag_source_lost_partitions_total[5m]) > 0.1` for some minutes, or the same of `postbag_consumer_lost_partitions_total`: the group never comes to rest. Members die, or take too long.\n" +
		"- `max(postbag_paused) > 0` for some hours: a [pause](../guides/pause.md) that somebody forgot.\n\n" +
		"Histograms are classic and native. Prometheus stores native ones if you tell it to: with `scrape_native_histograms: true`, or in older versions with the feature `native-histograms`. They have a resolution of ten percent.\n\n" +
		"| metric | kind | labels | |\n|---|---|---|---|\n")
	for _, m := range prompostbag.Metrics() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type(), strings.Join(m.Labels, ", "), m.Help)
	}
	metricsOfSbmtOutbox(t, &b)
	page(t, "metrics.md", b.String())
}

func TestReferenceOfTheConfiguration(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile(filepath.Join("testdata", "postbag.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := config.Parse("testdata/postbag.yaml", example, component.Kinds()); err != nil {
		t.Errorf("the example is wrong: %v", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Configuration\n\n"+
		"`postbag relay -c postbag.yaml` does what the file says. The other commands take the store from it. `postbag config check -c postbag.yaml` finds\n"+
		"every mistake at once, each with its line. `postbag config schema` prints the JSON Schema of the file. With it an editor completes settings and\n"+
		"shows what they mean.\n\n"+
		"A duration has a unit: `15s`, `10m`, `36h`, `3d`, `P3D`. A setting that you leave out has its default. Zero is refused for a duration or a\n"+
		"number, unless it means none or no limit for that setting.\n\n```yaml\n%s```\n\n"+
		"`sources` takes messages in from brokers: see [bridges](../guides/bridge.md).\n\n"+
		"**Secrets** are never in the file. A setting that ends in `_env` names an environment variable. One that ends in `_file` names a file that holds only\n"+
		"the value.\n\n"+
		"**Variables.** `${NAME}` stands for the value of an environment variable, `${NAME:-value}` for the value after `:-` if the variable is empty or\n"+
		"not set. `$${` stands for `${`. A variable that is not set is a mistake. A URL or a DSN with a secret in it is refused, also if a variable holds it: name\n"+
		"the variable with `url_env` or `dsn_env` instead.\n\n"+
		"**Several files.** `-c base.yaml -c production.yaml` reads both. A setting of the later file replaces that of the earlier one. Settings\n"+
		"that it leaves out stay. A list replaces the whole earlier list. Another kind of a destination replaces the whole destination.\n\n"+
		"**Profiles.** `profiles` at the top has settings by a name of your choice, such as `profiles: {tests: {store: {dsn: tests.db}}}`. With `--profile tests`,\n"+
		"or the variable `POSTBAG_PROFILE`, they replace the settings of the rest of the file.\n\n"+
		"Names at the top that begin with `x-` are yours. Use them for anchors of aliases.\n", example)
	docs := settingDocs(t)
	settings(t, &b, "The file", reflect.TypeFor[config.File](), docs)
	settings(t, &b, "store, and each of stores.*", reflect.TypeFor[config.Store](), docs)
	for _, kind := range component.Kinds().Destinations {
		settings(t, &b, "destinations.*."+kind.Name, reflect.TypeOf(kind.New()).Elem(), docs)
	}
	settings(t, &b, "boxes.*", reflect.TypeFor[config.Box](), docs)
	settings(t, &b, "subscriptions[]", reflect.TypeFor[config.Subscription](), docs)
	settings(t, &b, "sources[]", reflect.TypeFor[config.Intake](), docs)
	for _, kind := range component.Kinds().Sources {
		settings(t, &b, "sources[].from."+kind.Name, reflect.TypeOf(kind.New()).Elem(), docs)
	}
	settings(t, &b, "admin", reflect.TypeFor[config.Admin](), docs)
	settings(t, &b, "console", reflect.TypeFor[config.Console](), docs)
	settings(t, &b, "otel", reflect.TypeFor[config.OTel](), docs)
	settings(t, &b, "log", reflect.TypeFor[config.Log](), docs)
	page(t, "configuration.md", b.String())
}

// settingDocs reads the comments of all settings.
func settingDocs(t *testing.T) map[string]string {
	t.Helper()
	docs := make(map[string]string)
	for _, pattern := range []string{filepath.Join("internal", "component", "*.go"), filepath.Join("internal", "config", "*.go")} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			maps.Copy(docs, fieldDocs(t, path))
		}
	}
	return docs
}

// settingText is the comment of a setting: what it is.
func settingText(t *testing.T, of reflect.Type, f reflect.StructField, docs map[string]string) string {
	t.Helper()
	text := docs[of.Name()+"."+f.Name]
	if text == "" {
		t.Errorf("%s.%s has no comment: say what it sets", of.Name(), f.Name)
	}
	if strings.Contains(strings.ToLower(text), "defaults to") {
		t.Errorf("%s.%s says its default in a comment; say it in its tag default, or in words in its tag otherwise", of.Name(), f.Name)
	}
	return text
}

// defaultOf is what a setting is if it is left out, by its tags.
func defaultOf(t *testing.T, of reflect.Type, f reflect.StructField) string {
	t.Helper()
	value, words := f.Tag.Get("default"), f.Tag.Get("otherwise")
	if value != "" && words != "" {
		t.Errorf("%s.%s has both tags, default and otherwise; keep one", of.Name(), f.Name)
	}
	return value + words
}

// settings writes the tables of a struct's settings, and of those of what is in them.
func settings(t *testing.T, b *strings.Builder, title string, of reflect.Type, docs map[string]string) {
	t.Helper()
	fmt.Fprintf(b, "\n## %s\n\n", title)
	type inner struct {
		title string
		of    reflect.Type
	}
	var below []inner
	var rows []string
	var walk func(of reflect.Type)
	walk = func(of reflect.Type) {
		for f := range of.Fields() {
			name := f.Tag.Get("yaml")
			if f.Anonymous {
				walk(f.Type)
			}
			if name == "" {
				continue
			}
			text := escape(settingText(t, of, f, docs))
			if limits := rangeOf(f); limits != "" {
				text = strings.TrimSpace(text + " " + limits)
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", name, text, escape(defaultOf(t, of, f))))
			one, suffix := f.Type, ""
			if one.Kind() == reflect.Slice {
				one, suffix = one.Elem(), "[]"
			} else if one.Kind() == reflect.Pointer {
				one = one.Elem()
			}
			ours := strings.HasPrefix(one.PkgPath(), "github.com/postbag/")
			if one.Kind() == reflect.Struct && ours && one != reflect.TypeFor[config.Origin]() && of != reflect.TypeFor[config.File]() {
				below = append(below, inner{title + "." + name + suffix, one})
			}
		}
	}
	walk(of)
	if len(rows) == 0 {
		b.WriteString("No settings.\n")
	} else {
		b.WriteString("| setting | | default |\n|---|---|---|\n" + strings.Join(rows, ""))
	}
	for _, one := range below {
		settings(t, b, one.title, one.of, docs)
	}
}

// rangeOf says between what a setting may be.
func rangeOf(f reflect.StructField) string {
	low, high, ok := strings.Cut(f.Tag.Get("range"), "..")
	if !ok {
		return ""
	}
	if high == "876000h" {
		return "At least " + low + "."
	}
	return "From " + low + " to " + high + "."
}

// fieldDocs reads the comments of a file's structs, by "Type.Field".
func fieldDocs(t *testing.T, path string) map[string]string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, bytes.NewReader(source), parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	docs := make(map[string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range s.Fields.List {
				text := strings.Join(strings.Fields(field.Doc.Text()), " ")
				for _, name := range field.Names {
					docs[spec.Name.Name+"."+name.Name] = text
				}
				if embedded, ok := field.Type.(*ast.SelectorExpr); ok && len(field.Names) == 0 {
					docs[spec.Name.Name+"."+embedded.Sel.Name] = text
				}
			}
		}
		return true
	})
	return docs
}
