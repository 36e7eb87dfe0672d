package sqlscript_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/sqlscript"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/mysqlstore"
	"github.com/postbag/postbag/store/pgstore"
	"github.com/postbag/postbag/store/sqlitestore"
)

func TestSplitCutsAScriptIntoStatements(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		"":                                 nil,
		"-- a; b\n/* c; */ ;":              nil,
		"SELECT 1; SELECT 2":               {"SELECT 1", "SELECT 2"},
		"-- why; so\nSELECT ';';\n-- end;": {"-- why; so\nSELECT ';'"},
		`SELECT 'it''s;', ";", $$;$$;x`:    {`SELECT 'it''s;', ";", $$;$$`, "x"},
		"DO $a$ BEGIN; $$;$$; END $a$; y":  {"DO $a$ BEGIN; $$;$$; END $a$", "y"},
		"CREATE TRIGGER t BEFORE UPDATE ON a BEGIN\n SELECT ';END'; -- ;\nEND; z": {
			"CREATE TRIGGER t BEFORE UPDATE ON a BEGIN\n SELECT ';END'; -- ;\nEND", "z",
		},
		"SELECT 'open": {"SELECT 'open"},
	} {
		if got := sqlscript.Split(script); !slices.Equal(got, want) {
			t.Errorf("%q has the statements %q, want %q", script, got, want)
		}
	}
}

// What the stores print has nothing that Split, or a tool, takes for something else.
func TestScriptsOfTheStoresCanBeSplit(t *testing.T) {
	t.Parallel()
	slots := map[string]store.SlotRule{"orders": store.SlotsByNumber}
	for name, script := range map[string]func(map[string]store.SlotRule, ...string) ([]store.Step, error){
		"postgresql": pgstore.Script, "sqlite": sqlitestore.Script,
		"mysql": func(slots map[string]store.SlotRule, boxes ...string) ([]store.Step, error) {
			return mysqlstore.Script(0, slots, boxes...)
		},
	} {
		steps, err := script(slots, "outbox", "orders")
		if err != nil || len(steps) < 4 {
			t.Fatalf("%s: %d steps: %v", name, len(steps), err)
		}
		for _, step := range steps {
			for _, text := range sqlscript.Split(step.SQL) {
				lines := strings.Split(text, "\n")
				if strings.Contains(text, `\`) || slices.Contains(lines, "-- end") || strings.Contains(text, "+goose") {
					t.Errorf("%s, step %s: a tool would misread %q", name, step.Name, text)
				}
			}
		}
		if _, err := script(nil, "no box"); err == nil {
			t.Errorf("%s prints a box with a wrong name", name)
		}
	}
}
