package houserules_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// meanings are the packages that own a word of the glossary, which means one thing, and those that speak of the same thing: a store
// has turns, and so has a model of one. Types and functions of all others are named otherwise. The entries of package store are those
// of an audit log.
var meanings = map[string][]string{
	"lane":  {"broker", "broker/brokertest", "broker/kafkabroker", "broker/membroker", "inbox", "internal/core", "internal/effectstest", "proof/faketime", "proof/simulation", "relay", "store", "store/memstore", "store/mysqlstore", "store/pgstore", "store/sqlitestore", "store/storetest"},
	"entry": {"internal/engine", "store"},
	"turn": {
		"bench", "internal/boxtest", "internal/core", "internal/engine", "internal/readbacktest", "proof/faketime", "proof/simulation", "relay", "store",
		"store/memstore", "store/mysqlstore", "store/pgstore", "store/sqlitestore", "store/storetest",
	},
	"flow":   {"internal/core", "internal/engine", "proof/simulation", "relay"},
	"window": {"internal/engine", "proof/simulation", "store/storetest"},
	"chain":  {"internal/engine", "store/memstore", "store/sqlkit"},
	"draft":  {"internal/engine"},
	"settle": {
		"bench", "internal/boxtest", "internal/core", "internal/engine", "proof/simulation", "store", "store/memstore", "store/mysqlstore",
		"store/pgstore", "store/sqlitestore", "store/sqlkit", "store/storetest",
	},
	"slot": {
		"cmd/postbag", "cmd/postbag/internal/component", "cmd/postbag/internal/config", "internal/engine", "proof/simulation", "store", "store/memstore",
		"store/mysqlstore", "store/pgstore", "store/sqlitestore", "store/sqlkit", "store/storekit", "store/storetest",
	},
	"circuit": {"internal/engine", "relay"},
}

// otherForms are words that mean the same as one of meanings.
var otherForms = map[string][]string{
	"entry":  {"entries"},
	"settle": {"settled", "settling", "settlement", "settlements", "unsettled"},
}

// partsOf splits a name where its letters change case: ofAnExample, HTTPCall.
func partsOf(name string) (parts []string) {
	letters := []rune(name)
	begin := 0
	for i := 1; i < len(letters); i++ {
		up := unicode.IsUpper(letters[i]) && !unicode.IsUpper(letters[i-1])
		last := unicode.IsUpper(letters[i]) && unicode.IsUpper(letters[i-1]) && i+1 < len(letters) && unicode.IsLower(letters[i+1])
		if up || last || letters[i] == '_' {
			parts = append(parts, strings.ToLower(strings.Trim(string(letters[begin:i]), "_")))
			begin = i
		}
	}
	return append(parts, strings.ToLower(strings.Trim(string(letters[begin:]), "_")))
}

// reservedIn returns the word of the glossary that a name has, in the singular; empty if it has none.
func reservedIn(name string) string {
	for _, part := range partsOf(name) {
		for word := range meanings {
			if part == word || part == word+"s" || slices.Contains(otherForms[word], part) {
				return word
			}
		}
	}
	return ""
}

// declaredNames returns the types and functions that a file declares.
func declaredNames(file *ast.File) (names []*ast.Ident) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					names = append(names, t.Name)
				}
			}
		}
	}
	return names
}

func TestAWordOfTheGlossaryHasOneMeaning(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range open(t).sources {
		if s.test || ast.IsGenerated(s.tree) || strings.HasPrefix(s.file, "examples/") {
			continue
		}
		for _, name := range declaredNames(s.tree) {
			word, dir := reservedIn(name.Name), path.Dir(s.file)
			switch {
			case word == "":
			case !slices.Contains(meanings[word], dir):
				t.Errorf("%s: %s has the word %q, which means something else here: name it by what it does", s.set.Position(name.Pos()), name.Name, word)
			default:
				used[word+" "+dir] = true
			}
		}
	}
	for word, dirs := range meanings {
		for _, dir := range dirs {
			if !used[word+" "+dir] {
				t.Errorf("nothing in %s is named %s any more: take it out of the list", dir, word)
			}
		}
	}
}

func TestEachReservedWordIsInTheGlossary(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(open(t).root, "docs", "concepts.md"))
	if err != nil {
		t.Fatal(err)
	}
	for word := range meanings {
		if !strings.Contains(string(page), `<a id="`+word+`"></a>`+word+" |") {
			t.Errorf("the glossary of docs/concepts.md does not say what %q means", word)
		}
	}
}

func TestAReservedWordInANameIsFound(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"laneOf": "lane", "newLane": "lane", "TxLane": "lane", "parkedEntries": "entry", "turn": "turn", "HTTPTurn": "turn",
		"returned": "", "planet": "", "Turnaround": "", "overflow": "", "windowsOf": "window", "": "", "newSettling": "settle", "isUnsettled": "settle",
	} {
		if got := reservedIn(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
