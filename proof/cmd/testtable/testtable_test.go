package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// goTest writes a module of test files and returns what "go test -json" says of it.
func goTest(t *testing.T, files map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.org/m\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-json", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output() // a test that fails is an error, and wanted
	if len(out) == 0 {
		t.Fatal(err)
	}
	return out
}

// mixed has every outcome of a test, a package that does not build, one that ends in a panic and one without tests.
func mixed() map[string]string {
	return map[string]string{
		"good/good_test.go": `package good
import "testing"
func TestA(t *testing.T) {}
func TestB(t *testing.T) { t.Run("one", func(t *testing.T) {}); t.Run("two", func(t *testing.T) {}) }
func TestAwayToday(t *testing.T) { t.Skip("no server today") }
`,
		"bad/bad_test.go": `package bad
import "testing"
func TestA(t *testing.T) { t.Run("one", func(t *testing.T) { t.Error("one is wrong") }); t.Run("two", func(t *testing.T) {}) }
func TestParent(t *testing.T) { t.Run("child", func(t *testing.T) {}); t.Error("the parent itself") }
`,
		"broken/broken_test.go":   "package broken\nfunc TestA(t *testing.T) {}\n",
		"panicky/panicky_test.go": "package panicky\nimport \"testing\"\nfunc TestA(t *testing.T) { panic(\"all is lost\") }\n",
		"dying/dying_test.go":     "package dying\nimport (\"os\"; \"testing\")\nfunc TestMain(*testing.M) { os.Exit(3) }\n",
		"silent/silent.go":        "package silent\n",
	}
}

func TestTableCountsEveryOutcomeOnce(t *testing.T) {
	t.Parallel()
	logs := fstest.MapFS{
		"integration+x.json": {Data: goTest(t, mixed())},
		"checks.tsv": {Data: []byte("integration/x\tvet\tok\t1.5\nintegration/x\tlint\tfailed\t2\n" +
			"integration/x\ttest\tfailed\t3\npgstore\ttest\tfailed\t1\n")},
	}
	var out bytes.Buffer
	if err := table(logs, &out); err == nil {
		t.Error("failures are no error")
	}
	// Failed are bad/A/one, bad/Parent, broken, panicky/A, dying, lint, and pgstore, which printed nothing at all.
	for _, want := range []string{
		"integration/x         5         5         6         1       6.5  lint failed",
		"pgstore               0         0         1         0       1.0  test failed",
		"skipped: example.org/m/good TestAwayToday: good_test.go:5: no server today",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no line %q in\n%s", want, out.String())
		}
	}
	if !strings.HasSuffix(out.String(), "\n5 passed, 7 failed, 1 skipped\n") {
		t.Errorf("the last line is wrong:\n%s", out.String())
	}
}

func TestTableOfSuccessIsNoError(t *testing.T) {
	t.Parallel()
	logs := fstest.MapFS{
		"root.json":  {Data: goTest(t, map[string]string{"a/a_test.go": mixed()["good/good_test.go"]})},
		"checks.tsv": {Data: []byte("root\tvet\tok\t1\nroot\ttest\tok\t1\n")},
	}
	var out bytes.Buffer
	if err := table(logs, &out); err != nil {
		t.Error(err)
	}
	if !strings.HasSuffix(out.String(), "\n3 passed, 0 failed, 1 skipped\n") {
		t.Errorf("the last line is wrong:\n%s", out.String())
	}
}

func TestTableSaysWhatTheConformanceSuitesRanOn(t *testing.T) {
	t.Parallel()
	const suites = `package a
import "testing"
func TestOne(t *testing.T) {
	t.Attr("conformance", "store suite: One 1.0")
	t.Run("x", func(t *testing.T) {}); t.Run("y", func(t *testing.T) { t.Skip("cannot") })
}
func TestOneAgain(t *testing.T) { t.Attr("conformance", "store suite: One 1.0"); t.Run("x", func(t *testing.T) {}) }
func TestTwo(t *testing.T) { t.Attr("conformance", "broker suite: Two"); t.Run("x", func(t *testing.T) { t.Fail() }) }
func TestOther(t *testing.T) { t.Attr("colour", "red") }
`
	logs := fstest.MapFS{"m.json": {Data: goTest(t, map[string]string{"a/a_test.go": suites})}}
	var out bytes.Buffer
	if err := table(logs, &out); err == nil {
		t.Error("a failure is no error")
	}
	want := "conformance             passed    failed   skipped\n" +
		"broker suite: Two            0         1         0\n" +
		"store suite: One 1.0         2         0         1\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("the table has no\n%s\nbut\n%s", want, out.String())
	}
}

func TestTableRefusesResultsThatAreNotWhole(t *testing.T) {
	t.Parallel()
	for name, logs := range map[string]fs.FS{
		"nothing":          fstest.MapFS{},
		"no events":        fstest.MapFS{"m.json": {Data: []byte("go: cannot find main module\n")}},
		"a check too long": fstest.MapFS{"checks.tsv": {Data: []byte("m\tvet\tok\t1\t2\n")}},
		"a check too odd":  fstest.MapFS{"checks.tsv": {Data: []byte("m\tvet\tok\tlong\n")}},
		"a cut package": fstest.MapFS{"m.json": {Data: []byte(
			`{"Action":"start","Package":"p"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n")}},
	} {
		if err := table(logs, &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestWatchShowsPackagesAndTheWordsOfFailures(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := watch(bytes.NewReader(goTest(t, mixed())), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"ok     example.org/m/good  3 passed, 0 failed, 1 skipped",
		"FAILED example.org/m/bad  2 passed, 2 failed, 0 skipped",
		"FAILED example.org/m/dying  0 passed, 1 failed, 0 skipped",
		"one is wrong", "the parent itself", "undefined: testing", "all is lost", "exit status 3",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	for _, quiet := range []string{"example.org/m/silent", "no server today"} {
		if strings.Contains(out.String(), quiet) {
			t.Errorf("%q is in\n%s", quiet, out.String())
		}
	}
}

func TestRunRefusesWrongArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"table"}, {"look"}, {"watch", "x"}} {
		if err := run(args, strings.NewReader(""), &bytes.Buffer{}); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
