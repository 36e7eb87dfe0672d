package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// limitOf reads the parameter that says how much is asked for, at least 1.
func limitOf(r *http.Request, otherwise, most int) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, badRequestf("limit is no number from 1 to %d; write one, or leave it out", most)
	}
	return n, nil
}

// queryOf reads the filters of a request.
func queryOf(r *http.Request) (store.Query, error) {
	values := r.URL.Query()
	q := store.Query{Topic: values.Get("topic"), Key: values.Get("key"), Type: values.Get("type"), Error: values.Get("error"), Cursor: values.Get("cursor")}
	if types := values["type"]; len(types) > 1 {
		q.Type, q.Types = "", types
	}
	q.Box, q.Subscription = r.PathValue("box"), values.Get("subscription")
	q.State = store.State(values.Get("state"))
	if postbag.ValidBox(q.Box) != nil {
		return q, errNoBox
	}
	if q.Subscription != "" && postbag.ValidSubscription(q.Subscription) != nil {
		return q, store.ErrNoSubscription
	}
	if q.State != "" && !slices.Contains(operations.States(), q.State) {
		return q, badRequestf("state is no state of messages; write one of %v", operations.States())
	}
	var err error
	if q.Oldest, err = flag(r, "oldest"); err != nil {
		return q, err
	}
	if text := values.Get("id"); text != "" {
		if q.ID, err = idOf(text); err != nil {
			return q, err
		}
	}
	if err := times(r, &q); err != nil {
		return q, err
	}
	return q, fit(&q)
}

func idOf(text string) (postbag.ID, error) {
	id, err := postbag.ParseID(text)
	if err != nil || id.IsZero() {
		return id, badRequestf("that is no id of a message; write it as 01234567-89ab-7cde-8f01-23456789abcd")
	}
	return id, nil
}

// times reads after and before.
func times(r *http.Request, q *store.Query) (err error) {
	for name, at := range map[string]*time.Time{"after": &q.After, "before": &q.Before} {
		text := r.URL.Query().Get(name)
		if text == "" {
			continue
		}
		if *at, err = time.Parse(time.RFC3339, text); err != nil {
			return badRequestf("%s is no time; write it as 2026-01-31T12:00:00Z, with + as %%2B", name)
		}
	}
	if !q.After.IsZero() && !q.Before.IsZero() && !q.After.Before(q.Before) {
		return badRequestf("after is not before before, so that nothing lies between; exchange them")
	}
	return nil
}

// fit refuses what no message can have.
func fit(q *store.Query) error {
	for _, one := range []struct {
		name, text string
		most       int
	}{
		{"topic", q.Topic, postbag.MaxName},
		{"key", q.Key, postbag.MaxKey},
		{"error", q.Error, postbag.MaxKey},
		{"cursor", q.Cursor, 1024},
	} {
		if err := fitText(one.name, one.text, one.most); err != nil {
			return err
		}
	}
	return fitTypes(q.AllTypes())
}

// fitTypes refuses types that no message can have.
func fitTypes(types []string) error {
	if len(types) > store.MaxConditions {
		return badRequestf("type is given %d times, at most %d are taken; give a prefix and .*", len(types), store.MaxConditions)
	}
	for _, text := range types {
		if err := fitText("type", text, postbag.MaxName+2); err != nil {
			return err
		}
		if strings.Contains(strings.TrimSuffix(text, ".*"), "*") {
			return badRequestf("type has a star that does not end it as .*; write it out, or a prefix and .*")
		}
	}
	return nil
}

func fitText(name, text string, most int) error {
	if len(text) > most || strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
		return badRequestf("%s is no text of at most %d bytes; no message has it", name, most)
	}
	return nil
}
