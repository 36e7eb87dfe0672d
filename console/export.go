package console

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// exportPage is how many messages one question of an export asks for, patience how long a reader may take for a page, and
// exportFor after how long an export ends with the cursor to go on with.
const (
	exportPage = 500
	patience   = 30 * time.Second
	exportFor  = 5 * time.Minute
)

// The types of content of exports.
const (
	ndjson = "application/x-ndjson"
	table  = "text/csv"
)

// nextTrailer is the trailer with the cursor to go on with, behind an export that did not reach the end.
const nextTrailer = "Postbag-Next"

// export streams messages page by page, and keeps no place in the database while the reader reads. The first page is asked for
// before the answer begins, so that an error has its status. An error behind that cuts the connection off: nobody takes half of
// it for the whole.
func export(w http.ResponseWriter, r *http.Request, d *database, q store.Query, format string) error {
	if !r.ProtoAtLeast(1, 1) {
		return badRequestf("an export needs HTTP/1.1, since a trailer says whether that was all; have a proxy in between speak it, or take format=json with limit and cursor")
	}
	limit, err := limitOf(r, mostExported, mostExported)
	if err != nil {
		return err
	}
	began := time.Now()
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
			sayRead(w, r)
			write = begin(w, format)
			if r.Method == http.MethodHead {
				return nil
			}
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience + d.timeout)) // not every writer has one
		page := make([]operations.Message, len(items))
		for i := range items {
			page[i] = operations.MessageOf(q.Box, &items[i], false)
		}
		if err := write(page); err != nil || flush(w) != nil {
			panic(http.ErrAbortHandler)
		}
		shown, q.Cursor = shown+len(items), next
		if next == "" || shown >= limit || time.Since(began) >= exportFor {
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
		h.Set("Content-Type", table+"; charset=utf-8")
		return csvPages(w)
	}
	h.Set("Content-Type", ndjson)
	lines := json.NewEncoder(w)
	return func(page []operations.Message) error {
		for i := range page {
			if err := lines.Encode(&page[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// flush sends what is written. A writer that cannot, such as one of your middleware, sends it when it likes.
func flush(w http.ResponseWriter) error {
	if err := http.NewResponseController(w).Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

var columns = []string{"id", "seq", "box", "subscription", "state", "attempts", "stored", "topic", "key", "type", "bytes", "error"}

// csvPages writes pages as CSV, the names of the columns first.
func csvPages(w io.Writer) func([]operations.Message) error {
	rows := csv.NewWriter(w)
	first := true
	return func(page []operations.Message) error {
		if first {
			first = false
			_ = rows.Write(columns) // Error says it
		}
		for i := range page {
			m := &page[i]
			_ = rows.Write([]string{
				m.ID.String(), strconv.FormatInt(m.Seq, 10), m.Box, m.Subscription, string(m.State), strconv.Itoa(m.Attempts),
				m.Stored.Format(time.RFC3339Nano), harmless(m.Topic), harmless(m.Key), harmless(m.Type), strconv.Itoa(m.Bytes), harmless(m.Error),
			})
		}
		rows.Flush()
		return rows.Error()
	}
}

// harmless keeps a spreadsheet from taking a text for a formula, or what stands behind a separator in it: an apostrophe stands
// before the sign that a formula begins with.
func harmless(s string) string {
	var out strings.Builder
	begins := true
	for _, r := range s {
		if begins && strings.ContainsRune("=+-@\t\r\n＝＋－＠", r) {
			out.WriteByte('\'')
		}
		out.WriteRune(r)
		begins = strings.ContainsRune(";\t\r\n\"", r)
	}
	return out.String()
}
