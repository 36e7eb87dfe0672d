package pgstore

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/postbag/postbag/store/storekit"
)

//go:embed query/*.sql
var queryFiles embed.FS

// statement is one SQL statement, and the name under which it is prepared. The
// name comes from the text, so that programs of two versions on one pooled
// session never mean different things by one name.
type statement struct {
	name, sql string
	// whole: what follows in its transaction sees every row, or fails, and calls nothing but the server's own; see unfiltered in
	// query/server.sql.
	whole bool
}

// unled and unfiltered are what makes a statement whole.
const (
	unled      = "pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)"
	unfiltered = "pg_catalog.set_config('row_security', 'off', true)"
)

// statementSet holds the statements of query/*.sql. They are written with
// placeholders in braces: {box} is a box's name, the others are named where the
// statement is made.
type statementSet struct {
	templates map[string]string
	// comments hold what follows each statement; see Options.SQLComments.
	comments map[string]string
	made     sync.Map // of statementKey to *statement
}

type statementKey struct {
	name, box string
	variant   uint16
}

func newStatementSet(comments storekit.Comments) (*statementSet, error) {
	c := &statementSet{templates: map[string]string{}, comments: map[string]string{}}
	roles := map[string]string{"query/append.sql": comments.Publisher, "query/inbox.sql": comments.Consumer, "query/lanes.sql": comments.Consumer}
	files, err := fs.Glob(queryFiles, "query/*.sql")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := queryFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		comment, ok := roles[file]
		if !ok {
			comment = comments.Relay
		}
		c.read(string(text), comment)
	}
	return c, nil
}

// read takes the statements out of one file. Each begins with a line "-- name: x";
// comments are for readers of the file and left out. comment follows each.
func (c *statementSet) read(text, comment string) {
	for _, part := range strings.Split(text, "-- name: ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		var kept []string
		for line := range strings.Lines(body) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
				kept = append(kept, line)
			}
		}
		name = strings.TrimSpace(name)
		c.comments[name] = comment
		c.templates[name] = strings.TrimSuffix(strings.Join(kept, "\n"), ";")
	}
}

// get returns a statement, for a box or for none.
func (c *statementSet) get(name, box string) *statement { return c.variant(name, box, 0, nil) }

// variant returns a statement whose other placeholders fill replaces. A number
// tells one such filling from another.
func (c *statementSet) variant(name, box string, number uint16, fill func() []string) *statement {
	key := statementKey{name, box, number}
	if st, ok := c.made.Load(key); ok {
		return st.(*statement) //nolint:errcheck,forcetypeassert // nothing else is stored there
	}
	text, ok := c.templates[name]
	if !ok {
		return &statement{name: name, sql: fmt.Sprintf("SELECT 1 FROM postbag_has_no_statement_%s", name)}
	}
	if fill != nil {
		text = strings.NewReplacer(fill()...).Replace(text)
	}
	text = "/* postbag " + name + " */ " + strings.ReplaceAll(text, "{box}", box) + c.comments[name]
	sum := sha256.Sum256([]byte(text))
	st, _ := c.made.LoadOrStore(key, &statement{
		name: "postbag_" + name + "_" + hex.EncodeToString(sum[:8]), sql: text, whole: strings.Contains(text, unled) && strings.Contains(text, unfiltered),
	})
	return st.(*statement) //nolint:errcheck,forcetypeassert // as above
}
