package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

const (
	// countSpan is about how long all that match are counted.
	countSpan = 5 * time.Second
	// mostRate is the highest rate of an operation.
	mostRate = 1_000_000
)

// errorKinds narrow what matches to errors of one kind.
var errorKinds = parameter{"kind", "Only messages with an error of this kind, as api/v1 shows kinds of errors."}

// matchParameters select the messages of an operation.
var matchParameters = append(slices.Clone(matchFilters), errorKinds)

var beginForm = slices.Concat([]parameter{{"do", "retry or discard."}}, matchParameters, []parameter{
	{"messages", "How many messages were counted. If more match by now, nothing is done."},
	{"as_of", "When they were counted, as the count says it. What was stored later is left out."},
	{"confirm", "How many they are once more, typed by the one who gives the command."},
	{"rate", "The most messages a second that get the command. Empty: no limit."},
	why,
})

// matchOf reads which messages an operation is for. Without a state they are the dead ones.
func matchOf(r *http.Request) (m operations.Match, err error) {
	if m.Query, err = queryOf(r); err != nil {
		return m, err
	}
	if m.Query.State == "" {
		m.Query.State = store.StateDead
	}
	m.Kind = strings.ReplaceAll(r.URL.Query().Get(errorKinds.name), "\r\n", "\n") // a browser writes line ends so
	return m, nil
}

// matched counts all that match, for an operation.
func (c *console) matched(r *http.Request) (v operations.Matched, err error) {
	d, err := c.database(r)
	if err != nil {
		return v, err
	}
	m, err := matchOf(r)
	if err != nil {
		return v, err
	}
	err = d.askAt(r.Context(), d.longs, func(ctx context.Context) (err error) {
		v, err = d.ops.CountMatched(ctx, m, min(countSpan, d.timeout/2))
		return err
	})
	return v, err
}

// onBegin begins an operation over all that match, which this console works in the background.
func (c *console) onBegin(r *http.Request) (v Begun, err error) {
	f, err := form(r, beginForm)
	if err != nil {
		return v, err
	}
	kind, err := kindOf(f.Get("do"))
	if err != nil {
		return v, err
	}
	m, err := matchOf(withParameters(r, f, matchParameters))
	if err != nil {
		return v, err
	}
	was, err := confirmed(f)
	if err != nil {
		return v, err
	}
	rate, err := rateOf(f.Get("rate"))
	if err != nil {
		return v, err
	}
	a, err := c.signed(r, f)
	if err != nil {
		return v, err
	}
	if err := c.works(); err != nil {
		return v, err
	}
	d, err := c.database(r)
	if err != nil {
		return v, err
	}
	err = grantable(d.askFor(r.Context(), d.longs, beginTimes*d.timeout, func(ctx context.Context) error {
		p, err := d.ops.PreviewMatched(ctx, m, kind, was)
		if err != nil {
			return err
		}
		v.Operation, err = d.ops.StartOperation(ctx, p, a, rate)
		return err
	}))
	if err == nil {
		d.forget()
		c.news(r, v.Operation)
	}
	return v, err
}

// beginTimes is how many times longer than a question the begin of an operation may take: it writes down all of its messages.
const beginTimes = 4

// confirmed reads what was counted, and that it was typed once more.
func confirmed(f url.Values) (was operations.Matched, err error) {
	if was.Messages, err = strconv.Atoi(f.Get("messages")); err != nil || was.Messages < 1 {
		return was, badRequestf("messages is no number above zero; write how many were counted")
	}
	typed := strings.NewReplacer(",", "", " ", "", "\u00a0", "").Replace(f.Get("confirm"))
	if n, err := strconv.Atoi(typed); err != nil || n != was.Messages {
		return was, badRequestf("confirm is not the number of messages that were counted, %d; write that number if you mean all of them; nothing was done", was.Messages)
	}
	if was.AsOf, err = time.Parse(time.RFC3339Nano, f.Get("as_of")); err != nil {
		return was, badRequestf("as_of is no time; write when they were counted, as the count says it")
	}
	return was, nil
}

// rateOf reads the most messages a second. Empty: zero, without a limit.
func rateOf(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostRate {
		return 0, badRequestf("rate is no number from 1 to %d; write how many messages a second get the command, or leave it out", mostRate)
	}
	return n, nil
}

// asBegin begins an operation, and sends the browser to its page.
func asBegin(c *console, w http.ResponseWriter, r *http.Request) error {
	v, err := c.onBegin(r)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "./"+strconv.FormatInt(int64(v.Operation), 10))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// MatchFields are the parameters of the page by which an operation selects, as pairs. The state is always one of them.
func (s *sheet) MatchFields() (all [][2]string) {
	for _, p := range matchParameters {
		text := s.query.Get(p.name)
		if p.name == "state" && text == "" {
			text = string(store.StateDead)
		}
		if text != "" {
			all = append(all, [2]string{p.name, text})
		}
	}
	return all
}

// longestKind is the longest kind of an error that a link has: an address has an end.
const longestKind = 1000

// AllOfKind is the address of the page that begins an operation over all messages of a kind of error. Empty: the kind is too long.
func (s *sheet) AllOfKind(g operations.ErrorGroup) string {
	if len(g.Kind) > longestKind {
		return ""
	}
	return s.OfBox("operations", "preview") + query([]string{"subscription", g.Subscription, "state", string(g.State), "kind", g.Kind})
}

// AllThatMatch is the address of the page that begins an operation over all that the filters of this one select.
func (s *sheet) AllThatMatch() string {
	var pairs []string
	for _, f := range s.Filters() {
		pairs = append(pairs, f[0], f[1])
	}
	return s.OfBox("operations", "preview") + query(pairs)
}
