package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program that the README shows is a function; with its imports around it, it
// must build as it stands there.
func TestTheProgramOfTheReadmeBuilds(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```go\n")
	body, _, found := strings.Cut(rest, "```")
	if !found || !strings.HasPrefix(body, "func run(") {
		t.Fatal("the README shows no function run")
	}
	dir, err := os.MkdirTemp("quickstart", "readme") //nolint:usetesting // it has to lie in the module
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const imports = `package readme

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/store/pgstore"
	"github.com/postbag/postbag/relay"
)

var _ = run

`
	if err := os.WriteFile(filepath.Join(dir, "readme.go"), []byte(imports+body), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "./"+filepath.ToSlash(dir)).CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// The lines with which a module uses a checkout name the folder of each module.
func TestTheReadmeReplacesEachModuleByItsFolder(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(page)) {
		module, folder, found := strings.Cut(strings.TrimSpace(line), "=../postbag")
		path, is := strings.CutPrefix(module, "go mod edit -replace github.com/postbag/postbag")
		if !found || !is {
			continue
		}
		lines++
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(folder), "go.mod")); err != nil || path != folder {
			t.Errorf("%s: there is no module in that folder (%v)", strings.TrimSpace(line), err)
		}
	}
	if lines < 3 {
		t.Errorf("the README has %d such lines, want the root, a store and a broker", lines)
	}
}
