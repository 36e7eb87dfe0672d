package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestMigrateMakesTheSchemaOnceAndSaysSo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new.db")
	cli(t, "migrate", "status", "--store", path).ends(exit.Usage, "there is no file")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("to look at a missing file made it (%v)", err)
	}
	var done migrated
	cli(t, "migrate", "up", "--store", path, "--box", "outbox", "--box", "orders", "--json").ok().json(&done)
	if len(done.Steps) == 0 || len(done.Boxes) != 2 {
		t.Errorf("it did %+v, want all steps and two boxes", done)
	}
	cli(t, "migrate", "up", "--store", path).ok().says("up to date")
	var state schemaState
	cli(t, "migrate", "status", "--store", path, "--json").ok().json(&state)
	if state.Version != len(done.Steps) || len(state.Pending) != 0 {
		t.Errorf("the state is %+v, want version %d and nothing pending", state, len(done.Steps))
	}
	cli(t, "migrate", "print", "--store", path).ok().says("no step is missing")
	cli(t, "status", "--store", path).ok().says("BOX outbox", "BOX orders")
}

func TestMigrateShowsWhatIsMissingAndDoesNothing(t *testing.T) {
	t.Parallel()
	path := write(t, "empty.db", "")
	cli(t, "migrate", "status", "--store", path).ends(exit.Schema, "version 0", "0001", "migrate up")
	cli(t, "migrate", "print", "--store", path).ok().says("-- step 1", "CREATE TABLE")
	var steps []printedStep
	cli(t, "migrate", "print", "--store", path, "--json").ok().json(&steps)
	if len(steps) == 0 || steps[0].Version != 1 || steps[0].SQL == "" {
		t.Errorf("the steps are %+v", steps)
	}
	cli(t, "status", "--store", path).ends(exit.Schema, "migrate up")
	cli(t, "publish", "--store", path, "--payload", "x").ends(exit.Schema, "migrate up")
	cli(t, "migrate", "status", "--store", path).ends(exit.Schema)
}
