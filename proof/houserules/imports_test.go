package houserules_test

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rules say what of ours each package of the root module may import, in code that is not a test. Paths are below home; ""
// is the root package. The standard library is allowed to all; the root module requires nothing else. What adapters share is
// in the kit of their seam, so that no adapter in a module of its own needs anything of internal.
var rules = map[string][]string{
	"":                               {},
	"internal/engine":                {"", "store", "broker"},
	"internal/lane":                  {"store", "broker"},
	"internal/core":                  {"store", "broker", "internal/engine", "internal/lane"},
	"store":                          {""},
	"broker":                         {""},
	"format":                         {"", "broker", "internal/httpfield"},
	"relay":                          {"", "store", "store/storekit", "broker", "format", "internal/core", "internal/engine", "internal/failpoint", "internal/lane", "internal/outagelog"},
	"inbox":                          {"", "store", "broker", "broker/brokerkit", "source", "source/sourcekit", "internal/outagelog"},
	"store/memstore":                 {"", "store", "store/storekit"},
	"store/storekit":                 {"", "store"},
	"store/storetest":                {"", "store"},
	"broker/brokerkit":               {"broker"},
	"broker/membroker":               {"", "broker", "broker/brokerkit"},
	"broker/webhook":                 {"", "broker", "broker/brokerkit", "internal/httpfield", "source", "source/sourcekit"},
	"broker/stdout":                  {"", "broker", "broker/brokerkit"},
	"broker/brokertest":              {"", "broker", "internal/suitetest"},
	"source":                         {},
	"source/sourcekit":               {"", "source"},
	"source/sourcetest":              {"source", "internal/suitetest"},
	"source/memsource":               {"source", "source/sourcekit"},
	"postbagtest":                    {"", "store", "broker", "relay", "inbox", "store/memstore", "broker/membroker"},
	"internal/failpoint":             {},
	"internal/outagelog":             {},
	"internal/suitetest":             {},
	"internal/publishtest":           {"", "broker"},
	"internal/boxtest":               {"", "store"},
	"internal/redact":                {},
	"internal/pagetest":              {},
	"internal/readbacktest":          {"", "store", "broker", "relay"},
	"store/sqlkit/snapshots":         {"store"},
	"internal/httpfield":             {},
	"store/sqlkit":                   {"", "store", "store/storekit", "internal/failpoint"},
	"internal/testserver":            {},
	"internal/testserver/servertest": {"internal/testserver"},
}

// wirers are the modules that put the parts together: they may import all of ours.
var wirers = []string{"cmd/postbag", "examples", "proof", "bench"}

// kindOf is the seam of an adapter module: the folder that it stands in.
func kindOf(module string) string {
	seam, _, below := strings.Cut(module, "/")
	if below && (seam == "store" || seam == "broker" || seam == "source") {
		return seam
	}
	return ""
}

// allowed is what of ours a package may import. An internal package of the root module that no rule names may import
// what the root module has.
func (c *checkout) allowed(t *testing.T, pkg, module string) func(string) bool {
	t.Helper()
	switch {
	case module != ".":
		return allowedInModule(module)
	case rules[pkg] != nil:
		return func(other string) bool { return slices.Contains(rules[pkg], other) }
	case strings.HasPrefix(pkg, "internal/"):
		return func(other string) bool { return c.moduleOf(other+"/") == "." }
	default:
		t.Errorf("package %q has no rule: add one to imports_test.go, beside its likes", pkg)
		return func(string) bool { return true }
	}
}

// allowedInModule: a module may import its own packages, the root package, and: an adapter its seam and the kit of it; the console both
// seams and what operators do; wirers, everything.
func allowedInModule(module string) func(string) bool {
	may := []string{""}
	switch {
	case slices.Contains(wirers, module): // what ships and what shows may not lean on what proves
		return func(other string) bool {
			return module == "proof" || other != "proof" && !strings.HasPrefix(other, "proof/")
		}
	case module == "console":
		may = append(may, "store", "broker", "internal/operations", "internal/redact")
	case kindOf(module) == "store":
		may = append(may, "store", "store/storekit", "store/sqlkit", "store/sqlkit/snapshots")
	case kindOf(module) == "source":
		may = append(may, "source", "source/sourcekit")
	case kindOf(module) != "":
		may = append(may, "broker", "broker/brokerkit", "source", "source/sourcekit") // a client both sends and takes in
	default: // a companion such as otelpostbag
		may = append(may, "store", "broker", "source", "relay", "inbox")
	}
	return func(other string) bool {
		return slices.Contains(may, other) || other == module || strings.HasPrefix(other, module+"/")
	}
}

// ours returns the path below home, and whether it is one of ours.
func ours(imported string) (string, bool) {
	if imported == home {
		return "", true
	}
	return strings.CutPrefix(imported, home+"/")
}

// standard says whether an import path is of the standard library: no other has a first part without a dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// vendor is who makes a library: the owner on a host of repositories, else the host. A client and what its maker split
// off from it count as one.
func vendor(imported string) string {
	parts := strings.Split(imported, "/")
	if len(parts) > 1 && strings.HasPrefix(parts[0], "git") {
		return path.Join(parts[0], parts[1])
	}
	return parts[0]
}

func (s *source) imports(t *testing.T) []string {
	t.Helper()
	all := make([]string, 0, len(s.tree.Imports))
	for _, spec := range s.tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, imported)
	}
	return all
}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, s := range c.sources {
		if s.test {
			continue
		}
		pkg, _ := ours(s.pkg)
		allowed := c.allowed(t, pkg, c.moduleOf(s.file))
		for _, imported := range s.imports(t) {
			if other, is := ours(imported); is && !allowed(other) {
				t.Errorf("%s imports %s: imports go from adapters to their seam to the root package; move the code, "+
					"or put the parts together in %s", s.file, imported, strings.Join(wirers, ", "))
			}
		}
	}
}

func TestRootModuleUsesOnlyTheStandardLibrary(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, m := range c.modules {
		if m.dir == "." && len(m.Require) > 0 {
			t.Errorf("the root module requires %v: what needs it belongs into a module of its own", m.Require)
		}
	}
	for _, s := range c.sources {
		if c.moduleOf(s.file) != "." {
			continue
		}
		for _, imported := range s.imports(t) {
			if other, is := ours(imported); !standard(imported) && (!is || c.moduleOf(other+"/") != ".") {
				t.Errorf("%s imports %s: the root module uses only the standard library, also in tests", s.file, imported)
			}
		}
	}
}

func TestAdapterHasOneClientLibrary(t *testing.T) {
	t.Parallel()
	c := open(t)
	vendors := make(map[string]map[string]string) // module, vendor, an example
	for _, s := range c.sources {
		module := c.moduleOf(s.file)
		if s.test || kindOf(module) == "" {
			continue
		}
		for _, imported := range s.imports(t) {
			if _, is := ours(imported); is || standard(imported) {
				continue
			}
			if vendors[module] == nil {
				vendors[module] = make(map[string]string)
			}
			vendors[module][vendor(imported)] = s.file + " imports " + imported
		}
	}
	for module, examples := range vendors {
		if len(examples) > 1 {
			t.Errorf("module %s uses libraries of %d makers, and an adapter has one client library: %v",
				module, len(examples), examples)
		}
	}
}

func TestTheLibraryDoesNotImportTestServers(t *testing.T) {
	t.Parallel()
	c := open(t)
	const servers = "internal/testserver"
	for _, s := range c.sources {
		if s.test || slices.Contains(wirers, c.moduleOf(s.file)) || strings.Contains(s.file, servers) {
			continue
		}
		for _, imported := range s.imports(t) {
			if other, _ := ours(imported); other == servers || strings.HasPrefix(other, servers+"/") || imported == "testing" &&
				!isForTests(s.pkg) {
				t.Errorf("%s imports %s: only tests, and packages made for tests, may", s.file, imported)
			}
		}
	}
}

// isForTests says whether a package is made to be imported by tests: its name ends in "test".
func isForTests(pkg string) bool { return strings.HasSuffix(pkg, "test") }
