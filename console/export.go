package console

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// exportPage is how many messages one question of an export asks for, and patience how long a reader may take for a page.
const (
	exportPage = 500
	patience   = 30 * time.Second
)

// nextTrailer is the trailer with the cursor to go on with, behind an export that did not reach the end.
const nextTrailer = "Postbag-Next"

// export streams messages page by page, and keeps no place in the database while the reader reads. The first page is asked for
// before the answer begins, so that an error has its status. An error behind that cuts the connection off: nobody takes half of
// it for the whole.
func export(w http.ResponseWriter, r *http.Request, d *database, q store.Query, format string) error {
	limit, err := number(r, "limit", mostExported, mostExported)
	if err != nil {
		return err
	}
	var write func([]operations.Message) error
	for shown := 0; ; {
		q.Limit = min(exportPage, limit-shown)
		items, next, err := d.list(r.Context(), q)
		switch {
		case err != nil && write == nil:
			return err
		case err != nil:
			panic(http.ErrAbortHandler)
		case write == nil:
			write = begin(w, format)
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience)) // not every writer has one
		page := make([]operations.Message, len(items))
		for i := range items {
			page[i] = operations.MessageOf(q.Box, &items[i], false)
		}
		if err := write(page); err != nil {
			panic(http.ErrAbortHandler)
		}
		shown, q.Cursor = shown+len(items), next
		if next == "" || shown >= limit {
			w.Header().Set(nextTrailer, next)
			return nil
		}
	}
}

// begin writes the headers of an export, and returns what writes a page of it.
func begin(w http.ResponseWriter, format string) func([]operations.Message) error {
	h := w.Header()
	h.Set("Trailer", nextTrailer)
	h.Set("Content-Disposition", `attachment; filename="messages.`+format+`"`)
	if format == "csv" {
		h.Set("Content-Type", "text/csv; charset=utf-8")
		return csvPages(w)
	}
	h.Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	return func(page []operations.Message) error {
		for i := range page {
			if err := lines.Encode(&page[i]); err != nil {
				return err
			}
		}
		return http.NewResponseController(w).Flush()
	}
}

var columns = []string{"id", "seq", "box", "subscription", "state", "attempts", "stored", "topic", "key", "type", "bytes", "error"}

// csvPages writes pages as CSV, the names of the columns first.
func csvPages(w io.Writer) func([]operations.Message) error {
	table := csv.NewWriter(w)
	first := true
	return func(page []operations.Message) error {
		if first {
			first = false
			_ = table.Write(columns) // Error says it
		}
		for i := range page {
			m := &page[i]
			_ = table.Write([]string{
				m.ID.String(), strconv.FormatInt(m.Seq, 10), m.Box, m.Subscription, string(m.State), strconv.Itoa(m.Attempts),
				m.Stored.Format(time.RFC3339Nano), harmless(m.Topic), harmless(m.Key), harmless(m.Type), strconv.Itoa(m.Bytes), harmless(m.Error),
			})
		}
		table.Flush()
		return table.Error()
	}
}

// harmless keeps a spreadsheet from taking a text for a formula: an apostrophe stands before it.
func harmless(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}
