package postbag_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// compiler type-checks snippets against this package as it is built now.
type compiler struct {
	exports map[string]string // import path to export data file

	mu  sync.Mutex // the importer is not safe for concurrent use
	imp types.Importer
}

// newCompiler asks the go command for the export data of this package and of
// what the snippets import besides.
func newCompiler(t *testing.T) *compiler {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", ".", "database/sql/driver", "net/http")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	c := &compiler{exports: map[string]string{}}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct{ ImportPath, Export string }
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		c.exports[pkg.ImportPath] = pkg.Export
	}
	c.imp = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(c.exports[path])
	})
	dependOnSources(t)
	return c
}

// dependOnSources reads this package's files, so that the go command does not
// answer from its test cache after a change that only a compiler sees.
func dependOnSources(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no Go files here: %v", err)
	}
	for _, file := range files {
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
}

// check type-checks one statement in a function with all the variables below in
// scope, and returns the first error.
func (c *compiler) check(statement string) error {
	const scope = `package snippet

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"net/http"

	"github.com/postbag/postbag"
)

// orm is what *sqlx.Tx, bun.Tx, ent's and GORM's transactions look like.
type orm struct{ *sql.Tx }

// halfway has Commit and Rollback but cannot execute.
type halfway interface { Commit() error; Rollback() error }

// otherTx is a transaction of another kind than database/sql's.
type otherTx interface { Exec(ctx context.Context, query string) error; Commit(ctx context.Context) error }

func _(
	ctx context.Context, pub *postbag.Publisher[postbag.SQLTx], other *postbag.Publisher[otherTx],
	tx *sql.Tx, wrapped orm, pointer *orm, iface postbag.SQLTx, foreign otherTx, half halfway,
	db *sql.DB, conn *sql.Conn, stmt *sql.Stmt, rows *sql.Rows, driverTx driver.Tx, driverConn driver.Conn,
	request *http.Request, sender postbag.Sender, msg postbag.Message, id postbag.ID,
) {
	`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "snippet.go", scope+statement+"\n\t_ = http.MethodGet\n}\n", 0)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = (&types.Config{Importer: c.imp}).Check("snippet", fset, []*ast.File{file}, nil)
	return err
}

// calls are the ways to hand a transaction to a publisher, with TX in its place.
var calls = map[string]string{
	"Publish":        `_ = pub.Publish(ctx, TX, msg)`,
	"PublishOrdered": `_ = pub.PublishOrdered(ctx, TX, msg)`,
	"Bind":           `_ = pub.Bind(TX)`,
	"Cancel":         `_, _ = pub.Cancel(ctx, TX, id)`,
}

func TestATransactionOfDatabaseSQLCompiles(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for name, call := range calls {
		for _, tx := range []string{"tx", "wrapped", "pointer", "iface"} {
			if err := c.check(strings.ReplaceAll(call, "TX", tx)); err != nil {
				t.Errorf("%s with %s: %v", name, tx, err)
			}
		}
	}
	for _, good := range []string{
		`_ = other.Publish(ctx, foreign, msg)`,
		`_ = sender.Publish(ctx, msg, msg)`,
		`_ = pub.InTx(ctx, func(ctx context.Context, tx postbag.SQLTx) error { return pub.Publish(ctx, tx, msg) })`,
	} {
		if err := c.check(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

func TestAWrongTransactionDoesNotCompile(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for name, call := range calls {
		for _, wrong := range []string{
			"db", "conn", "stmt", "rows", "driverTx", "driverConn", "half", "foreign", "request", "*tx",
			"ctx", "pub", "sender", "msg", "id", `"tx"`, "0", "true", "[]byte{}", "struct{}{}", "&tx",
			"func() {}", "any(tx)", "error(nil)", "(*sql.DB)(nil)", "context.Background()", "orm{}.Commit",
		} {
			err := c.check(strings.ReplaceAll(call, "TX", wrong))
			var fault types.Error
			switch {
			case err == nil:
				t.Errorf("%s with %s compiles", name, wrong)
			case !errors.As(err, &fault) || !strings.Contains(err.Error(), "cannot use ") || strings.Contains(err.Error(), "undefined"):
				t.Errorf("%s with %s fails for another reason: %v", name, wrong, err)
			}
		}
	}
}

func TestOtherMistakesDoNotCompile(t *testing.T) {
	t.Parallel()
	c := newCompiler(t)
	for name, tc := range map[string]struct{ snippet, says string }{
		"no transaction":                       {`_ = pub.Publish(ctx, msg)`, "cannot use msg"},
		"no transaction and no message":        {`_ = pub.Publish(ctx)`, "not enough arguments"},
		"no context":                           {`_ = pub.Publish(tx, msg)`, "cannot use tx"},
		"a publisher for a Sender":             {`var _ postbag.Sender = pub`, "wrong type for method Publish"},
		"another store's transaction":          {`_ = other.Publish(ctx, tx, msg)`, "cannot use tx"},
		"another transaction in InTx":          {`_ = pub.InTx(ctx, func(context.Context, *sql.Tx) error { return nil })`, "cannot use (func("},
		"a pool for a store":                   {`_, _ = postbag.NewPublisher[postbag.SQLTx](db, postbag.PublisherOptions{})`, "missing method Append"},
		"the event's value instead of message": {`_ = pub.Publish(ctx, tx, postbag.Event[int]{}.Message("1"))`, "cannot use \"1\""},
	} {
		err := c.check(tc.snippet)
		if err == nil {
			t.Errorf("%s compiles", name)
		} else if !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: the compiler says %q, want %q", name, err, tc.says)
		}
	}
}

// TestAnUntypedNilCompiles records the one wrong value that the language lets
// through, for any Tx that is an interface: ErrNoTx answers it.
func TestAnUntypedNilCompiles(t *testing.T) {
	t.Parallel()
	if err := newCompiler(t).check(`_ = pub.Publish(ctx, nil, msg)`); err != nil {
		t.Errorf("the compiler refuses nil now (%v): say so in Publisher and drop ErrNoTx", err)
	}
}
