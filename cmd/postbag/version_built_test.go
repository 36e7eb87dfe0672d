package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program that somebody has, and no checkout beside it, must tell what it was made of.
func TestAProgramTellsTheCommitThatItWasBuiltOf(t *testing.T) {
	t.Parallel()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", args...).Output()
		if err != nil {
			t.Skipf("this is no checkout of git, or there is no git, so that nothing can be stamped: %v", err)
		}
		return strings.TrimSpace(string(out))
	}
	commit := git("rev-parse", "HEAD")
	program := filepath.Join(t.TempDir(), "postbag")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=true", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	say := func(args ...string) *outcome {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), program, args...).Output()
		if err != nil {
			t.Fatalf("postbag %v: %v", args, err)
		}
		return &outcome{t: t, args: args, out: string(out)}
	}
	var b build
	if say("version", "--json").json(&b); b.Revision != commit || b.Go == "" || b.Platform == "" {
		t.Errorf("it says that it is %+v, of commit %s", b, commit)
	}
	// Only a build that nobody changes meanwhile can say whether it has changes.
	if changed := git("status", "--porcelain") != ""; changed != b.Modified && changed == (git("status", "--porcelain") != "") {
		t.Errorf("the checkout has changes: %v, and it says %v", changed, b.Modified)
	}
	if b.Version == "" || b.Version == "(devel)" {
		t.Errorf("its version is %q", b.Version)
	}
	if o := say("version"); !strings.HasPrefix(o.out, "postbag "+b.Version+" "+commit) {
		t.Errorf("it says %q", o.out)
	}
}
