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
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/console"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/prompostbag"
)

// update writes the reference pages anew, as in: go test -run Reference -update.
var update = flag.Bool("update", false, "write docs/reference anew")

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
			t.Fatalf("docs/reference/%s is not what the code says from line %d on, want\n%s\nwrite it anew with go test -run Reference -update",
				name, i+1, wantLines[i])
		}
	}
	t.Fatalf("docs/reference/%s has more lines than the code says; write it anew with go test -run Reference -update", name)
}

func TestReferenceOfTheCommandLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Command line\n\n" +
		"`postbag` is the relay as a daemon, and the tools of those who look after one. Every command has `--help`; `postbag completion` makes shell\n" +
		"completions. Tables are for people, `--json` is for programs: the names of fields do not change. Messages for people go to standard error.\n\n" +
		"A secret is never an argument, for arguments can be seen by everyone on the machine: a DSN or URL with a password is refused, and named by an\n" +
		"environment variable (`--store-env`) or a file (`--store-file`) instead.\n\n## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for _, code := range exit.Codes() {
		fmt.Fprintf(&b, "| %d | %s |\n", code, code.Meaning())
	}
	root := newRoot(&console.Console{})
	for _, cmd := range root.Commands() {
		describe(&b, cmd)
	}
	b.WriteString("\n## JSON\n\nFields that are empty may be left out. Times are RFC 3339 in UTC.\n")
	items, status := fieldDocs(t, "itemview.go"), fieldDocs(t, "statusview.go")
	fields(t, &b, "A message, of `messages list` (one a line) and `messages show` (a list)", reflect.TypeFor[itemView](), items)
	fields(t, &b, "history", reflect.TypeFor[attemptView](), items)
	fields(t, &b, "The state of a store, of `status`", reflect.TypeFor[statusView](), status)
	fields(t, &b, "boxes", reflect.TypeFor[boxView](), status)
	fields(t, &b, "notices", reflect.TypeFor[noticeView](), status)
	fields(t, &b, "subscriptions", reflect.TypeFor[subscriptionView](), status)
	fields(t, &b, "destination", reflect.TypeFor[destinationView](), status)
	fields(t, &b, "held", reflect.TypeFor[heldView](), status)
	fields(t, &b, "shard_list", reflect.TypeFor[shardView](), status)
	fields(t, &b, "relays", reflect.TypeFor[relayView](), status)
	page(t, "cli.md", b.String())
}

// fields writes the table of a view's fields in JSON.
func fields(t *testing.T, b *strings.Builder, title string, of reflect.Type, docs map[string]string) {
	t.Helper()
	fmt.Fprintf(b, "\n### %s\n\n| field | |\n|---|---|\n", title)
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
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
	if len(cmd.Commands()) == 0 || cmd.Name() == "demo" {
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
		"A relay serves them at `/metrics` of its admin listener (`admin.listen`, or `--admin`), for Prometheus. Labels are boxes, subscriptions and states, and with several stores the store;\n" +
		"nothing of a message is ever in one. What is counted begins anew with each relay; what is read from the store is the same on every relay, so take\n" +
		"the maximum over relays, not the sum.\n\n" +
		"A program with a relay of its own registers them by `prompostbag.NewCollector(prompostbag.Options{Stats: rel.Stats, Store: store})`, from the module\n" +
		"`github.com/postbag/postbag/prompostbag`. Without `Stats` it shows what the store knows, though no relay runs there.\n\n" +
		"What to be woken for: `max(postbag_oldest_seconds) > 300` (messages wait, whatever the reason), `max(postbag_parked{state=\"dead\"}) > 0` (messages\n" +
		"gave up), `max(postbag_relays) == 0` or no scrape at all (nobody works), `postbag_circuit_open == 1` for some minutes (a destination is away or\n" +
		"misconfigured).\n\n| metric | kind | labels | |\n|---|---|---|---|\n")
	for _, m := range prompostbag.Metrics() {
		kind := "gauge"
		if m.Kind == prometheus.CounterValue {
			kind = "counter"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, kind, strings.Join(m.Labels, ", "), m.Help)
	}
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
		"`postbag relay -c postbag.yaml` does what the file says; the other commands take the store from it. `postbag config check -c postbag.yaml` finds\n"+
		"every mistake at once, each with its line. Durations are written with a unit: `15s`, `10m`, `72h`. A duration\n"+
		"or a number of zero is refused, unless the setting means none or no limit by it: what is left out has its default. Names at the top that begin with `x-` are your\n"+
		"own, to hold anchors for aliases.\n\n"+
		"A secret never stands in the file. A setting that ends in `_env` names an environment variable, one that ends in `_file` a file that holds the\n"+
		"value and nothing else.\n\n```yaml\n%s```\n", example)
	docs := fieldDocs(t, filepath.Join("internal", "config", "file.go"))
	maps.Copy(docs, fieldDocs(t, filepath.Join("internal", "config", "destinationfile.go")))
	maps.Copy(docs, fieldDocs(t, filepath.Join("internal", "config", "formatfile.go")))
	for _, section := range []struct {
		title string
		of    reflect.Type
	}{
		{"The file", reflect.TypeFor[config.File]()},
		{"store, and each of stores.*", reflect.TypeFor[config.Store]()},
		{"destinations.*", reflect.TypeFor[config.Destination]()},
		{"destinations.*.create", reflect.TypeFor[config.CreateTopics]()},
		{"destinations.*.transactions", reflect.TypeFor[config.Transactions]()},
		{"destinations.*.topology.exchanges[]", reflect.TypeFor[config.Exchange]()},
		{"destinations.*.topology.queues[]", reflect.TypeFor[config.Queue]()},
		{"destinations.*.topology.bindings[]", reflect.TypeFor[config.Binding]()},
		{"subscriptions[]", reflect.TypeFor[config.Subscription]()},
		{"subscriptions[].format", reflect.TypeFor[config.Format]()},
		{"subscriptions[].format.names", reflect.TypeFor[config.FormatNames]()},
		{"subscriptions[].retry", reflect.TypeFor[config.Retry]()},
		{"admin", reflect.TypeFor[config.Admin]()},
		{"log", reflect.TypeFor[config.Log]()},
	} {
		settings(t, &b, section.title, section.of, docs)
	}
	page(t, "configuration.md", b.String())
}

// settings writes the table of a struct's settings.
func settings(t *testing.T, b *strings.Builder, title string, of reflect.Type, docs map[string]string) {
	t.Helper()
	isDestination := of == reflect.TypeFor[config.Destination]()
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if isDestination {
		fmt.Fprintf(b, "| setting | kinds | | default |\n|---|---|---|---|\n")
	} else {
		fmt.Fprintf(b, "| setting | | default |\n|---|---|---|\n")
	}
	for f := range of.Fields() {
		name := f.Tag.Get("yaml")
		if name == "" {
			continue
		}
		text := docs[of.Name()+"."+f.Name]
		if text == "" {
			t.Errorf("%s.%s has no comment: say what it sets, and end with its default", of.Name(), f.Name)
		}
		text, normal, _ := strings.Cut(escape(text), " Defaults to ")
		normal = strings.TrimSuffix(normal, ".")
		if isDestination {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, kindsOf(name), text, normal)
		} else {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, text, normal)
		}
	}
}

// kindsOf names the kinds of destinations that take a setting.
func kindsOf(setting string) string {
	var kinds []string
	all := component.Kinds().Destinations
	for _, k := range all {
		if slices.Contains(k.Settings, setting) || slices.Contains([]string{"kind", "url", "url_env", "url_file"}, setting) {
			kinds = append(kinds, k.Name)
		}
	}
	if len(kinds) == len(all) {
		return "all"
	}
	return strings.Join(kinds, ", ")
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
