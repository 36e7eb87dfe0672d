package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// pages are the texts of the documentation, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	files := []string{filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		more, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	out := make(map[string]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[file] = string(text)
	}
	return out
}

// shellWords splits a command line as a shell does, as far as examples need it, and
// ends at a comment or a pipe.
func shellWords(line string) []string {
	var out []string
	for _, w := range regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`).FindAllString(line, -1) {
		if w == "|" || w == "<" || w == ">" || strings.HasPrefix(w, "#") || w == "..." {
			break
		}
		out = append(out, strings.Trim(w, `'"`))
	}
	return out
}

func TestCommandsInTheDocumentationExist(t *testing.T) {
	t.Parallel()
	example := regexp.MustCompile("(?m)(?:^[ \t]*|`)(?:\\./)?postbag ([^`\n]+)")
	found := 0
	for file, text := range pages(t) {
		for _, m := range example.FindAllStringSubmatch(text, -1) {
			root := newRoot(&terminal.Terminal{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}) // a flag keeps what it was set to
			root.InitDefaultCompletionCmd()
			args := shellWords(m[1])
			cmd, rest, err := root.Find(args)
			if err != nil || cmd == root {
				t.Errorf("%s: there is no command postbag %s", file, strings.Join(args, " "))
				continue
			}
			found++
			if err := flagsExist(cmd, rest); err != nil {
				t.Errorf("%s: postbag %s: %v", file, strings.Join(args, " "), err)
			}
		}
	}
	if found < 30 {
		t.Errorf("%d commands were found: the test looks at the wrong place", found)
	}
}

// Errors and log lines send people to commands, and so do comments.
func TestCommandsInErrorsAndCommentsExist(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile("(?:\\b(?:[Rr]un|[Ss]ee|with|[Uu]se|by|and|then|until|as|of) |[`\"(])postbag ([a-z-]+(?: [a-z-]+)?)")
	root := newRoot(&terminal.Terminal{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	found := 0
	for file, texts := range literals(t, "postbag") {
		for _, text := range texts {
			for _, m := range named.FindAllStringSubmatch(text, -1) {
				found++
				words := strings.Fields(m[1])
				if cmd, _, err := root.Find(words[:1]); err != nil || cmd == root {
					t.Errorf("%s names postbag %s, which is no command", file, m[1])
				} else if sub, _, err := root.Find(words); cmd.HasSubCommands() && len(words) > 1 && (err != nil || sub == cmd) {
					t.Errorf("%s names postbag %s, which is no command", file, m[1])
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("%d commands were found: the test looks at the wrong place", found)
	}
}

// literals are the strings and the comments in the code that ships, by file. Files where the word stands before no
// space are left out: to parse them all takes long.
func literals(t *testing.T, word string) map[string][]string {
	t.Helper()
	out := make(map[string][]string)
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "proof" || name == "bench" || name == "tmp" || name == "testdata" || len(name) > 2 && name[0] == '.'):
			return filepath.SkipDir
		case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(source, []byte(word+" ")) && !bytes.Contains(source, []byte(word+"\n")) {
			return err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range tree.Comments {
			out[path] = append(out[path], strings.Join(strings.Fields(group.Text()), " "))
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					out[path] = append(out[path], text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// flagsExist says whether a command has the flags of a command line.
func flagsExist(cmd *cobra.Command, args []string) error {
	cmd.Flags().SetOutput(io.Discard)
	for i, arg := range args {
		if strings.HasPrefix(arg, "--") && !strings.Contains(arg, "=") && (i+1 == len(args) || strings.HasPrefix(args[i+1], "-")) {
			if f := cmd.Flags().Lookup(arg[2:]); f != nil && f.NoOptDefVal == "" {
				return nil // it is named without a value
			}
		}
	}
	return cmd.ParseFlags(args)
}

// What a page shows as a configuration is one, or a part of one with a store and
// a destination.
func TestConfigurationsInTheDocumentationAreRight(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?ms)^([ \t]*)```yaml\n(.*?)^[ \t]*```")
	found := 0
	for file, text := range pages(t) {
		for _, m := range block.FindAllStringSubmatch(text, -1) {
			lines := strings.Split(m[2], "\n")
			for i := range lines {
				lines[i] = strings.TrimPrefix(lines[i], m[1])
			}
			found++
			if _, err := config.Parse(file, []byte(strings.Join(lines, "\n")), component.Kinds()); err != nil {
				t.Errorf("%v\n%s", err, m[2])
			}
		}
	}
	if found < 2 {
		t.Errorf("%d configurations were found: the test looks at the wrong place", found)
	}
}
