package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// ofHistory says that a constant has a number of its own: no row is in such a state.
func ofHistory(v *ast.ValueSpec) bool {
	return slices.ContainsFunc(v.Values, func(e ast.Expr) bool {
		lit, is := e.(*ast.BasicLit)
		return is && lit.Kind == token.INT
	})
}

// constants returns the names and the values, where they are written out, of all constants of a type of package store.
func constants(t *testing.T, file, of string) (names, values []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "store", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range tree.Decls {
		g, is := d.(*ast.GenDecl)
		if !is || g.Tok != token.CONST {
			continue
		}
		typ := ""
		for _, spec := range g.Specs {
			v, is := spec.(*ast.ValueSpec)
			if !is {
				continue
			}
			if id, is := v.Type.(*ast.Ident); is {
				typ = id.Name
			}
			if typ != of || ofHistory(v) {
				continue
			}
			names = append(names, v.Names[0].Name)
			for _, value := range v.Values {
				if lit, is := value.(*ast.BasicLit); is {
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, text)
				}
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("store/%s has no constant of type %s", file, of)
	}
	return names, values
}

// Programs take a word out of JSON and give it to a flag. The words are those of the constants, of which none is left out.
func TestEachStateThatJSONSaysIsOneThatFlagsTake(t *testing.T) {
	t.Parallel()
	_, states := constants(t, "inspect.go", "State")
	names, _ := constants(t, "turn.go", "ParkState")
	var parked []string // what histories, and the counts of status, say
	for i := range names {
		parked = append(parked, store.ParkState(i+1).String())
	}
	if more := store.ParkState(len(names) + 1).String(); more != "unknown" || slices.Contains(parked, more) {
		t.Fatalf("the states of parked messages are %q, and one more is %q", parked, more)
	}
	same := func(what string, got, want []string) {
		t.Helper()
		got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
		if !slices.Equal(got, want) {
			t.Errorf("%s are %q, want %q", what, got, want)
		}
	}
	same("the states that a listing takes", stateNames(operations.States()), states)
	same("the states that parked messages are listed by", stateNames(operations.ParkedStates()), parked)
	shown := make([]string, len(operations.ParkStates))
	for i, s := range operations.ParkStates {
		shown[i] = s.String()
	}
	same("the states that status counts", shown, parked)

	root := newRoot(&terminal.Terminal{})
	for name, taken := range map[string][]store.State{
		"list": operations.States(), "retry": operations.CommandStates(store.Retry), "discard": operations.CommandStates(store.Discard),
	} {
		cmd, _, err := root.Find([]string{"messages", name})
		if err != nil {
			t.Fatal(err)
		}
		complete, there := cmd.GetFlagCompletionFunc("state")
		if !there {
			t.Fatalf("messages %s completes no --state", name)
		}
		words, _ := complete(cmd, nil, "")
		same("the words that messages "+name+" completes", completions(words), states)
		if _, list, _ := strings.Cut(cmd.Flag("state").Usage, ": "); true {
			same("the states in the help of messages "+name, strings.Split(list, ", "), states)
		}
		for _, s := range states {
			got, err := stateOf(s, taken)
			if want := slices.Contains(taken, store.State(s)); (err == nil) != want || err == nil && string(got) != s || err != nil && exit.Of(err) != exit.Usage {
				t.Errorf("messages %s --state %s: %q, %v", name, s, got, err)
			}
		}
	}
	doc := fieldDocs(t, filepath.Join("..", "..", "internal", "operations", "message.go"))["Message.State"]
	same("the states in the reference", strings.FieldsFunc(strings.ReplaceAll(doc, " or ", " "), func(r rune) bool { return strings.ContainsRune(", .", r) }), states)
}

func completions(list []cobra.Completion) []string {
	out := make([]string, len(list))
	for i, one := range list {
		out[i], _, _ = strings.Cut(one, "\t")
	}
	return out
}

// What a listing prints is what it takes, also on a store with messages in it.
func TestAListingFindsMessagesByTheStateThatItPrints(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		config, _, _ := ordersBehindADeadOne(t, at)
		cli(t, "publish", "-c", config, "--payload", "x", "--not-before", "1h").ok()
		seen := make(map[store.State]bool)
		for _, state := range append([]store.State{""}, operations.States()...) {
			list := []string{"messages", "list", "-c", config, "--json"}
			if state != "" {
				list = append(list, "--state", string(state))
			}
			for _, m := range cli(t, list...).ok().items() {
				if seen[m.State] = true; state != "" && m.State != state {
					t.Errorf("of the state %s a message is listed that is %s", state, m.State)
				}
			}
		}
		for _, want := range []store.State{store.StateDead, store.StateBlocked, store.StateDelivered, store.StateScheduled} {
			if !seen[want] {
				t.Errorf("no message is listed that is %s", want)
			}
		}
	})
}
