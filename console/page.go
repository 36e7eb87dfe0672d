package console

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

//go:embed pages/*.html pages/style.css pages/console.js pages/icon.svg
var files embed.FS

// pages are the templates of all pages. They escape every value for the place where it stands.
var pages = parsed("overview", "relays", "audit", "box", "subscription", "errors", "keys", "messages", "message", "around", "operations", "operation", "preview", "replays", "replay", "failure")

// parsed puts each page into the layout that all have.
func parsed(names ...string) map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(template.FuncMap{
		"span":        func(seconds float64) string { return operations.Span(operations.Seconds(seconds)) },
		"rate":        rateText,
		"count":       countText,
		"many":        func(n int) string { return countText(int64(n)) },
		"destination": destinationText,
		"predicate":   predicateText,
		"shown":       shownStates,
		"others":      otherStates,
		"blockers":    operations.BlockingStates,
		"parked":      operations.ParkedStates,
		"states":      operations.States,
		"clock":       func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"stamp":       func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"hold":        func(p operations.Pause) string { return p.Of() + " is paused " + p.InWords() },
	}).ParseFS(files, "pages/layout.html", "pages/charts.html"))
	out := make(map[string]*template.Template)
	for _, name := range names {
		out[name] = template.Must(template.Must(layout.Clone()).ParseFS(files, "pages/"+name+".html"))
	}
	return out
}

// sheet is what a page is made of.
type sheet struct {
	// V is what a look found.
	V any
	// Database and Box are those that the page is of, and Of is the subscription; empty: none.
	Database, Box, Of string
	// ShowsPayloads: the console shows payloads to those who may see them.
	ShowsPayloads bool
	// Payloads: the one who looks may see payloads of the box.
	Payloads bool
	// Commands: the one who looks may give commands in the box.
	Commands bool
	// User is the one who looks; nil: there is no login.
	User *User

	// root is the address of the overview, and here that of the page, both as a browser at the page needs them.
	root, here string
	query      url.Values
	several    bool
	days       map[string]shownDays // what Prometheus says of each database, once it was asked for all
	rights     Rights
	console    *console
	ctx        context.Context //nolint:containedctx // that of the request, for what a template asks
}

// Sees says whether the one who looks may see what is of no box of a database, such as its relays.
func (s *sheet) Sees(database string) bool { return s.rights.Over(database) >= Viewer }

// Audits says whether the one who looks may see the audit log of a database.
func (s *sheet) Audits(database string) bool { return s.rights.Over(database) >= Operator }

func (c *console) sheet(r *http.Request, v any) *sheet {
	at := r.URL.EscapedPath()
	root := strings.Repeat("../", max(strings.Count(at, "/")-1, 0))
	if root == "" {
		root = "./"
	}
	user := userOf(r.Context())
	if forStreams(r.Context()) { // others with the same rights get it, too
		user = nil
	}
	return &sheet{
		V: v, Database: r.PathValue("database"), Box: r.PathValue("box"), Of: r.PathValue("subscription"), ShowsPayloads: c.payloads, Payloads: c.payloads && c.rights(r).SeePayloads(r.PathValue("database"), r.PathValue("box")), User: user,
		Commands: c.commands && c.rights(r).In(r.PathValue("database"), r.PathValue("box")) >= Operator,
		root:     root, here: strings.TrimPrefix(at, "/"), query: r.URL.Query(), several: len(c.databases) > 1, rights: c.rights(r), console: c, ctx: r.Context(),
	}
}

// asPage answers with what a look finds, for people.
func asPage[T any](name string, look func(*console, *http.Request) (T, error)) func(*console, http.ResponseWriter, *http.Request) error {
	return func(c *console, w http.ResponseWriter, r *http.Request) error {
		v, err := look(c, r)
		if err != nil {
			return err
		}
		return show(w, http.StatusOK, name, c.sheet(r, v))
	}
}

// show writes a page. It is made before the answer begins, so that nobody sees half of one.
func show(w http.ResponseWriter, code int, name string, s *sheet) error {
	var page bytes.Buffer
	if err := pages[name].Execute(&page, s); err != nil {
		return fmt.Errorf("console: cannot make the page: %w; the same is below api/v1", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(page.Bytes()) // the one who asked has gone
	return nil
}

// failPage says why there is no page.
func (c *console) failPage(w http.ResponseWriter, r *http.Request, err error) {
	code, text := c.explained(w, r, err)
	s := c.sheet(r, Failure{Error: text})
	s.Database, s.Box = "", "" // they may be what is not there
	if err := show(w, code, "failure", s); err != nil {
		c.fail(w, r, err)
	}
}

var errNowhere = &missing{"there is no such page; begin with the overview"}

func (*console) nowhere(http.ResponseWriter, *http.Request) error { return errNowhere }

// tidied sends a browser to the same address without empty parameters: a form sends all that it has.
func tidied(w http.ResponseWriter, r *http.Request) bool {
	query, err := url.ParseQuery(r.URL.RawQuery)
	empty := false // or otherwise longer than it need be
	for name, values := range query {
		switch {
		case len(values) == 1 && values[0] == "":
			query.Del(name)
			empty = true
		case len(values) > 1 && name == chosenColumns.name: // each has a box to tick
			query.Set(name, strings.Join(values, ","))
			if query.Get(name) == usualColumns() {
				query.Del(name)
			}
			empty = true
		}
	}
	if !empty || err != nil { // what is malformed is refused, and not left out
		return false
	}
	to := "./" + path.Base(r.URL.EscapedPath())
	if r.URL.Path == "/" {
		to = "./"
	}
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	w.Header().Set("Location", to) // relative: the console may be mounted below a path
	w.WriteHeader(http.StatusSeeOther)
	return true
}

func (*console) styleSheet(w http.ResponseWriter, _ *http.Request) error {
	return asset(w, "pages/style.css", "text/css; charset=utf-8")
}

func (*console) script(w http.ResponseWriter, _ *http.Request) error {
	return asset(w, "pages/console.js", "text/javascript; charset=utf-8")
}

func (*console) icon(w http.ResponseWriter, _ *http.Request) error {
	return asset(w, "pages/icon.svg", "image/svg+xml")
}

// asset writes a file of the program.
func asset(w http.ResponseWriter, name, kind string) error {
	text, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text) // the one who asked has gone
	return nil
}

// destinationText says how a destination is, as postbag status does.
func destinationText(d *operations.Destination) string {
	if d == nil {
		return "–"
	}
	word, _ := d.Words()
	return word
}

// predicateText says how a destination is, behind its name.
func predicateText(d *operations.Destination) string {
	_, predicate := d.Words()
	return predicate
}

// shownStates are the states of parked messages. The dead come first: they wait for somebody.
func shownStates() []string { return append([]string{store.ParkDead.String()}, otherStates()...) }

// otherStates are those that end without anybody, as columns of tables have them: behind the dead.
func otherStates() (states []string) {
	for _, s := range operations.ParkStates {
		if s != store.ParkDead {
			states = append(states, s.String())
		}
	}
	return states
}

// rateText is a rate for people. There is none before the second look.
func rateText(perSecond *float64) string {
	if perSecond == nil {
		return "–"
	}
	return strconv.FormatFloat(*perSecond, 'f', 1, 64) + "/s"
}

// countText writes a count with commas.
func countText(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
