package console

import (
	"bytes"
	_ "embed" // the page and its style sheet are in the program
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"github.com/postbag/postbag/internal/operations"
)

//go:embed overview.html
var overviewText string

//go:embed style.css
var style []byte

// overviewTemplate escapes every value for the place where it stands.
var overviewTemplate = template.Must(template.New("overview").Funcs(template.FuncMap{
	"span":  func(seconds float64) string { return operations.Span(operations.Seconds(seconds)) },
	"rate":  rateText,
	"count": countText,
	"clock": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
}).Parse(overviewText))

// overviewPage is the page that the console opens on. It needs no script.
func (c *console) overviewPage(w http.ResponseWriter, r *http.Request) error {
	v := c.look(r.Context(), c.rights(r))
	good := true
	for i := range v.Databases {
		good = good && v.Databases[i].Good
	}
	var page bytes.Buffer
	if err := overviewTemplate.Execute(&page, struct {
		Overview

		Good bool
		User *User
	}{v, good, userOf(r.Context())}); err != nil {
		return fmt.Errorf("console: cannot make the page: %w; the same is at api/v1/overview", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(page.Bytes()) // the one who asked has gone
	return nil
}

func (*console) styleSheet(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	_, _ = w.Write(style) // the one who asked has gone
	return nil
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
