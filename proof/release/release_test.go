package release

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

const version = "v0.1.0"

// made makes a release of this checkout.
func made(t *testing.T) (*Maker, []*Module) {
	t.Helper()
	dir := t.TempDir()
	m := &Maker{Dir: filepath.Join(dir, "checkout"), Out: filepath.Join(dir, "out"), Version: version}
	if err := Copy(t.Context(), filepath.Join("..", ".."), m.Dir); err != nil {
		t.Skipf("this is no checkout of git: %v", err)
	}
	all, err := m.Modules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m, all
}

// A module of a stranger, outside the checkout, gets the root, a store and a broker by version, builds the README's program
// and runs it. Another installs the command.
func TestAModuleOutsideTheCheckoutFetchesAReleaseAndRuns(t *testing.T) {
	t.Parallel()
	postgres := servertest.Postgres(t, testserver.PostgresOptions{})
	broker := servertest.NATS(t, testserver.NATSOptions{})
	m, all := made(t)
	fetch := func(args ...string) []string {
		for _, one := range all {
			if strings.HasSuffix(one.Path, "/pgstore") || strings.HasSuffix(one.Path, "/natsbroker") || one.Dir == "." {
				args = append(args, one.Path+"@"+version)
			}
		}
		return args
	}
	stranger := t.TempDir()
	program, err := os.ReadFile(filepath.Join(m.Dir, "examples", "quickstart", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(stranger, "main.go"), program, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"mod", "init", "example.com/stranger"}, fetch("get"), {"mod", "tidy"}, {"build", "-o", "stranger", "."}} {
		if err := m.Go(t.Context(), stranger, args...); err != nil {
			t.Fatal(err)
		}
	}
	runQuickstart(t, filepath.Join(stranger, "stranger"), postgres.DSN("postgres"), broker.URL())
	for _, p := range Platforms() { // quickly: whether each package has files for it
		if err := m.goWith(t.Context(), filepath.Join(m.Dir, "cmd", "postbag"), []string{"GOOS=" + p.OS, "GOARCH=" + p.Arch}, "list", "-deps", "."); err != nil {
			t.Error(err)
		}
	}
	platforms := built(t)
	if err := m.Programs(t.Context(), platforms); err != nil {
		t.Fatal(err)
	}
	checkProgram(t, m)
	checkArchives(t, m, platforms)
}

// runQuickstart runs the README's program, and sees its row and its message.
func runQuickstart(t *testing.T, program, dsn, url string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	if _, err := db.Exec(t.Context(), "CREATE TABLE orders (id bigint, total bigint)"); err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+dsn, "NATS_URL="+url)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the program ends with %v:\n%s", err, out)
	}
	msg, err := stream.GetLastMsgForSubject(t.Context(), "orders.placed")
	if err != nil || string(msg.Data) != `{"order":17}` {
		t.Errorf("the stream holds %v (%v)", msg, err)
	}
	var total int
	if err := db.QueryRow(t.Context(), "SELECT total FROM orders WHERE id = 17").Scan(&total); err != nil || total != 4200 {
		t.Errorf("the order is %d (%v)", total, err)
	}
}

// checkProgram unpacks the command, as a user does, and asks for its version.
func checkProgram(t *testing.T, m *Maker) {
	t.Helper()
	dir := filepath.Join(m.Out, "program")
	base := "postbag_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH
	for _, args := range [][]string{{"sha256sum", "--check", "--strict", "SHA256SUMS"}, {"tar", "-xzf", base + ".tar.gz"}} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, base, "postbag"), "version", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var says struct{ Version string }
	if err := json.Unmarshal(out, &says); err != nil || says.Version != version {
		t.Errorf("the command says %s (%v)", out, err)
	}
	for _, file := range []string{"LICENSE", "README.md"} {
		if _, err := os.Stat(filepath.Join(dir, base, file)); err != nil {
			t.Error(err)
		}
	}
}

func TestVersionsAndFoldersThatCannotBeUsedAreRefused(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, m := range map[string]*Maker{
		`"0.1.0" is no version; write it as v0.1.0`: {Version: "0.1.0", Out: t.TempDir()},
		`"v0.1" is no version`:                      {Version: "v0.1", Out: t.TempDir()},
		"v2.0.0 needs module paths that end in /v2": {Version: "v2.0.0", Out: t.TempDir()},
		"is not empty; name another folder":         {Version: version, Out: full},
	} {
		if _, err := m.Modules(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

func TestModulesThatAreNotShippedAreRequiredByNone(t *testing.T) {
	t.Parallel()
	all, err := Modules(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	place := make(map[string]int)
	for i, m := range all {
		place[m.Path] = i + 1
		for _, needs := range m.ours() {
			if place[needs] == 0 {
				t.Errorf("%s stands before %s, which it needs", m.Path, needs)
			}
		}
	}
	if place[root] != 1 || place[root+"/cmd/postbag"] == 0 {
		t.Errorf("the modules are %v", place)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("go.work", "go 1.26\n\nuse (\n\t.\n\t./a\n\t./bench\n)\n")
	write("go.mod", "module "+root+"\n\ngo 1.26\n")
	write("bench/go.mod", "module "+root+"/bench\n\ngo 1.26\n")
	write("a/go.mod", "module "+root+"/a\n\ngo 1.26\n\nrequire "+root+"/bench v0.0.0\n")
	if _, err := Modules(dir); err == nil || !strings.Contains(err.Error(), "requires "+root+"/bench, which is not shipped") {
		t.Errorf("the error is %v", err)
	}
}

// A release that is written is a commit beside the branch, where no module has a replacement, with a tag for each.
func TestAReleaseIsACommitBesideTheBranchWithModuleTags(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "worktree")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	for name, text := range map[string]string{
		"go.work": "go 1.26\n\nuse (\n\t.\n\t./a\n)\n", "go.mod": "module " + root + "\n\ngo 1.26\n", "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- Begun.\n\n## 0.0.1\n",
		"a/go.mod": "module " + root + "/a\n\ngo 1.26\n\nrequire " + root + " v0.0.0\n\nreplace " + root + " => ../\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "--quiet")
	run("config", "user.name", "a")
	run("config", "user.email", "a@example.com")
	if _, err := Worktree(t.Context(), dir, to); err == nil || !strings.Contains(err.Error(), "commit them first") {
		t.Errorf("a checkout with changes: %v", err)
	}
	run("add", ".")
	run("commit", "--quiet", "-m", "begin")
	run("tag", "v0.0.1")
	head := run("rev-parse", "HEAD")
	done, err := Worktree(t.Context(), dir, to)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Modules(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if err := m.pin(to, version); err != nil {
			t.Fatal(err)
		}
	}
	notes, err := Changes(t.Context(), to, version)
	if err != nil || notes.Text != "- Begun." {
		t.Fatalf("the notes are %v (%v)", notes, err)
	}
	if err := errors.Join(notes.Name(to), Commit(t.Context(), to, version, notes, all), done()); err != nil {
		t.Fatal(err)
	}
	if run("rev-parse", "HEAD") != head || run("status", "--porcelain") != "" {
		t.Error("the branch has moved")
	}
	if tags := run("tag", "--list"); tags != "a/v0.1.0\nv0.0.1\nv0.1.0" {
		t.Errorf("the tags are %q", tags)
	}
	if pinned := run("show", "a/v0.1.0:a/go.mod"); !strings.Contains(pinned, root+" v0.1.0") || strings.Contains(pinned, "replace") {
		t.Errorf("the tag has\n%s", pinned)
	}
	// The commit before it is the branch's next one: the changelog names the version, and modules stand beside each other.
	if run("rev-parse", "v0.1.0^^") != head {
		t.Error("the commit before the release does not follow the branch")
	}
	if changelog := run("show", "v0.1.0^:CHANGELOG.md"); changelog != "# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- Begun.\n\n## 0.0.1" {
		t.Errorf("its changelog is\n%s", changelog)
	}
	if beside := run("show", "v0.1.0^:a/go.mod"); !strings.Contains(beside, "replace") {
		t.Errorf("it has\n%s", beside)
	}
	if _, err := Changes(t.Context(), dir, "v0.2.0"); err == nil || !strings.Contains(err.Error(), "git merge v0.1.0^") {
		t.Errorf("the next version, before the branch has the changelog: %v", err)
	}
	run("merge", "--quiet", "--ff-only", "v0.1.0^")
	if _, err := Changes(t.Context(), dir, "v0.2.0"); err == nil || !strings.Contains(err.Error(), "says nothing of v0.2.0") {
		t.Errorf("a version without changes: %v", err)
	}
}
