package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A module beside a checkout takes README's lines for that, word by word, and builds README's program.
//
//nolint:paralleltest // what it compiles, the test that fetches a release finds again: beside each other, both would compile it
func TestAStrangerBuildsWithACheckoutAsTheReadmeSays(t *testing.T) {
	dir := t.TempDir()
	checkout, stranger := filepath.Join(dir, "postbag"), filepath.Join(dir, "stranger")
	if err := Copy(t.Context(), filepath.Join("..", ".."), checkout); err != nil {
		t.Skipf("this is no checkout of git: %v", err)
	}
	readme, err := os.ReadFile(filepath.Join(checkout, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```\ngo mod edit -replace ")
	lines, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("README.md has no lines for a checkout")
	}
	if err := copyFile(filepath.Join(checkout, "examples", "quickstart", "main.go"), filepath.Join(stranger, "main.go")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", "go mod init example.com/stranger\ngo mod edit -replace "+lines+"go build -o stranger .\n")
	// As the maker of a release has it, so that what is compiled here is found again there.
	cmd.Dir, cmd.Env = stranger, append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if is, err := os.ReadFile(filepath.Join(stranger, "stranger")); err != nil {
		t.Error(err)
	} else if _, err := platformOf(is); err != nil {
		t.Error(err)
	}
}
