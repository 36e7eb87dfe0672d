package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// matchFilters are the filters by which a command for all that match selects.
var matchFilters = slices.DeleteFunc(slices.Clone(filters), func(p parameter) bool {
	return slices.Contains([]string{"id", "oldest", "cursor", "limit"}, p.name)
})

var matchingForm = slices.Concat([]parameter{{"do", "retry or discard."}}, matchFilters, []parameter{
	{"messages", "How many messages were counted. If there are others by now, nothing is done. Empty: as many as there are."},
	{"newest", "The newest of them. If it is another by now, nothing is done. Empty: whichever it is."},
	why,
})

// counted counts what matches a query, if the request asks for that.
func (c *console) counted(r *http.Request, d *database, q store.Query) (*operations.Matching, error) {
	asked, err := flag(r, "count")
	switch {
	case err != nil || !asked:
		return nil, err
	case followsNewest(r.URL):
		return nil, badRequestf("a list that follows the newest messages is not counted; leave out follow, or count")
	case !c.commands || c.rights(r).In(d.name, q.Box) < Operator:
		return nil, &forbiddenError{"to count all that match is for a command, and you give none here; leave out count"}
	}
	var v operations.Matching
	err = d.ask(r.Context(), func(ctx context.Context) (err error) {
		v, err = d.ops.CountMatching(ctx, operations.Match{Query: q})
		return err
	})
	return &v, err
}

// onMatching gives a command for the messages that match filters: at most operations.MostMatching.
func (c *console) onMatching(r *http.Request) (v Done, err error) {
	f, err := form(r, matchingForm)
	if err != nil {
		return v, err
	}
	kind, err := kindOf(f.Get("do"))
	if err != nil {
		return v, err
	}
	q, err := queryOf(withParameters(r, f, matchFilters))
	if err != nil {
		return v, err
	}
	was, err := matchedOf(f)
	if err != nil {
		return v, err
	}
	a, err := c.signed(r, f)
	if err != nil {
		return v, err
	}
	return c.run(r, a, func(ctx context.Context, ops operations.Store) (*operations.Preview, error) {
		return ops.PreviewMatching(ctx, operations.Match{Query: q}, kind, was)
	})
}

// matchedOf reads what was counted.
func matchedOf(f url.Values) (was operations.Matching, err error) {
	if text := f.Get("messages"); text != "" {
		if was.Messages, err = strconv.Atoi(text); err != nil || was.Messages < 1 {
			return was, badRequestf("messages is no number above zero; write how many were counted, or leave it out")
		}
	}
	if text := f.Get("newest"); text != "" {
		was.Newest, err = idOf(text)
	}
	return was, err
}

// withParameters is a request with some fields of a form behind its question mark.
func withParameters(r *http.Request, f url.Values, fields []parameter) *http.Request {
	of, at := *r, *r.URL
	at.RawQuery = chosen(f, fields).Encode()
	of.URL = &at
	return &of
}

// chosen are those of the fields that are given.
func chosen(f url.Values, fields []parameter) url.Values {
	out := url.Values{}
	for _, p := range fields {
		if text := f.Get(p.name); text != "" {
			out.Set(p.name, text)
		}
	}
	return out
}

// asMatching gives a command for all that match, and sends the browser back to the messages with those filters.
func asMatching(c *console, w http.ResponseWriter, r *http.Request) error {
	if _, err := c.onMatching(r); err != nil {
		return err
	}
	w.Header().Set("Location", "../messages?"+chosen(r.PostForm, matchFilters).Encode())
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// Filters are the filters of the page by which a command can select, as pairs.
func (s *sheet) Filters() (all [][2]string) {
	for _, p := range matchFilters {
		if text := s.query.Get(p.name); text != "" {
			all = append(all, [2]string{p.name, text})
		}
	}
	return all
}

// State is the state that the page is of.
func (s *sheet) State() store.State { return store.State(s.query.Get("state")) }

// Countable says whether the one who looks may give a command for all that match.
func (s *sheet) Countable() bool {
	return s.Commands && s.query.Get("id") == "" && s.query.Get("follow") != "true" && len(s.Buttons(s.State())) > 0
}
