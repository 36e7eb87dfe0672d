package houserules_test

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// prose is what people read of a Go file: a comment, or a text that the program says.
type prose struct {
	at   token.Pos
	text string // in one line
}

// proseOf returns the comments of a file, and its strings. Strings that are added up are one.
func proseOf(file *ast.File) (all []prose) {
	for _, group := range file.Comments {
		var lines []string
		for _, c := range group.List {
			lines = append(lines, strings.Fields(strings.TrimSuffix(strings.TrimLeft(c.Text, "/*"), "*/"))...)
		}
		all = append(all, prose{group.Pos(), strings.Join(lines, " ")})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			if text := added(x); text != "" {
				all = append(all, prose{x.Pos(), strings.Join(strings.Fields(text), " ")})
				return false
			}
		case *ast.BasicLit:
			if x.Kind == token.STRING {
				all = append(all, prose{x.Pos(), strings.Join(strings.Fields(textOf(x)), " ")})
			}
		}
		return true
	})
	return all
}

// added is the text of strings that are added up; what else is added to them is left out.
func added(x ast.Expr) string {
	switch part := x.(type) {
	case *ast.ParenExpr:
		return added(part.X)
	case *ast.BinaryExpr:
		if part.Op == token.ADD {
			return added(part.X) + added(part.Y)
		}
	case *ast.BasicLit:
		if part.Kind == token.STRING {
			return textOf(part)
		}
	}
	return ""
}

// plainInCode are phrases and words that neither comments nor texts of the code may say. The words of plain are held in whole files.
var plainInCode = map[string]*regexp.Regexp{
	"again, at, after":        regexp.MustCompile(`(?:^|[^-.\w])(anew|upon|loudly)\b`),
	"skip":                    regexp.MustCompile(`(?i)\bpass(es|ed|ing)? over\b`),
	"graceful shutdown, give": regexp.MustCompile(`(?i)\bhand(s|ed|ing)? over\b|\bhand-overs?\b`),
	"if":                      regexp.MustCompile(`(?i)\bif need be\b`),
	"and the like":            regexp.MustCompile(`(?i)\band their like\b`),
	"notices":                 regexp.MustCompile(`(?i)\btakes notice\b`),
	"command": regexp.MustCompile(`(?i)\borders? (to (discard|retry|replay|try|cancel|remove)|that (removes?|removed|did nothing|were refused|come)|got no answer|` +
		`(was|were) (given|queued|refused|carried out)|of shards|things|something|what to do)\b|\boperators?(['’]s?)? orders?\b|\bby order(?:[ ,;]|\.?$)`),
}

// reason is "for" in the place of "because": what follows is a sentence with a verb of its own.
var reason = regexp.MustCompile(`(?i)[,;:] for ((?:[\w']+ ){1,4})(?:is|are|was|were|has|had|have|cannot|can|may|must|will|would|does|do|did|asks|tells|lies|knows)\b`)

// relatives are words behind which a verb belongs to what "for" names: "for messages that are parked".
var relatives = []string{"that", "which", "who", "whom", "whose", "what", "where", "so", "as", "all", "example", "whatever"}

// worseInCode lists what a comment or a text of the code should say in plainer words.
func worseInCode(text string) (found []string) {
	text = quoted.ReplaceAllString(text, "X")
	for better, phrase := range plainInCode {
		for _, said := range phrase.FindAllString(text, -1) {
			found = append(found, "says \""+said+"\": say "+better)
		}
	}
	for _, m := range reason.FindAllStringSubmatch(text, -1) {
		if !slices.ContainsFunc(strings.Fields(strings.ToLower(m[1])), func(word string) bool { return slices.Contains(relatives, word) }) {
			found = append(found, "says \""+m[0]+"\": say because")
		}
	}
	return found
}

// Generated files are left out, and this package, which names what it refuses.
func TestCommentsAndTextsOfTheCodeUsePlainWords(t *testing.T) {
	t.Parallel()
	read := 0
	for _, s := range open(t).sources {
		if ast.IsGenerated(s.tree) || path.Dir(s.file) == "proof/houserules" {
			continue
		}
		for _, p := range proseOf(s.tree) {
			read++
			for _, f := range worseInCode(p.text) {
				t.Errorf("%s %s", s.set.Position(p.at), f)
			}
		}
	}
	if read < 20000 {
		t.Errorf("%d comments and texts were read: the test sees too few", read)
	}
}

func TestUnplainWordsOfTheCodeAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"It begins anew upon a fault.":                                2,
		"The rows that it passed over.":                               1,
		"It waits, for the broker is away.":                           1,
		"It waits: for nobody else can.":                              1,
		"It waits, for a broker that is away.":                        0,
		"It waits, for `the broker` and for what is said.":            0,
		"An order to discard was queued.":                             1,
		"An operator's order, and the keys' order.":                   1,
		"The order of keys: in order.":                                0,
		"A shard that is handed over, and handed-over-by-a-name.":     1,
		"The `anew` of a name, Anew, and what a lane gives, overall.": 0,
	} {
		if got := worseInCode(text); len(got) != want {
			t.Errorf("%q: %q were found, want %d", text, got, want)
		}
	}
}

// helpTexts returns the texts of a command's help: what it does, long and short, and what its flags are for.
func helpTexts(file *ast.File) (all []prose) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := x.Key.(*ast.Ident); ok && (key.Name == "Long" || key.Name == "Short") {
				if text := added(x.Value); text != "" {
					all = append(all, prose{x.Pos(), text})
				}
			}
		case *ast.CallExpr:
			if method, ok := x.Fun.(*ast.SelectorExpr); ok && aFlag.MatchString(method.Sel.Name) && len(x.Args) > 2 {
				if text := added(x.Args[len(x.Args)-1]); text != "" {
					all = append(all, prose{x.Pos(), text})
				}
			}
		}
		return true
	})
	return all
}

// aFlag is a method of flag or pflag that declares one.
var aFlag = regexp.MustCompile(`^(String|Bool|Int|Int64|Uint64|Float64|Duration|StringArray|StringSlice|IntSlice|Func|BoolFunc|Text)?(Var|VarP)?$`)

func TestSentencesOfHelpTextsAreShort(t *testing.T) {
	t.Parallel()
	read := 0
	for _, s := range open(t).sources {
		if s.test {
			continue
		}
		for _, p := range helpTexts(s.tree) {
			read++
			for _, long := range longSentences(p.text) {
				t.Errorf("%s: say this in two sentences: %s", s.set.Position(p.at), long)
			}
		}
	}
	if read < 150 {
		t.Errorf("%d help texts were read: the test sees too few", read)
	}
}
