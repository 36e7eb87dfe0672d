package remote

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// A console reads some thousands of rows for one command, the newest first, and all of them for an operation.
func TestFewMessagesBehindManyOthersAreAnOperation(t *testing.T) {
	t.Parallel()
	s := consoleThat(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/operations/preview"):
			says(w, http.StatusOK, `{"messages":3}`)
		case r.URL.Query().Get("count") != "":
			says(w, http.StatusBadRequest, `{"error":"too much must be read to find those that match","kind":"invalid"}`)
		default:
			says(w, http.StatusOK, `{"messages":[{"id":"01234567-89ab-7cde-8f01-23456789abcd"}]}`)
		}
	})
	c := open(t, Options{URL: s.URL})
	p, err := c.Preview(t.Context(), operations.Choice{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Kind: store.Discard, All: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.Size() != 3 || !p.Long(0) || len(p.First) != 1 {
		t.Errorf("of 3 messages is said: %+v", p)
	}
}
