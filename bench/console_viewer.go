package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postbag/postbag/store/storekit"
)

// People who look: how many, and how long each looks at a page before the next, give or take half of it.
const (
	viewers = 20
	think   = 2 * time.Second
)

// page is one of a walk: what people call it, and its address.
type page struct{ name, path string }

// look is what a page took, and what went wrong.
type look struct {
	page  string
	took  time.Duration
	err   string
	bytes int64
}

// walk is the pages that each viewer goes through, again and again, and what they found.
type walk struct {
	base  string
	pages []page
	live  []string // the addresses of event streams

	mu     sync.Mutex
	looks  []look
	events atomic.Int64
}

const shownAt = "databases/store/"

// newWalk finds out which messages and places there are, and makes a walk through all pages.
func newWalk(ctx context.Context, base string, messages int) (*walk, error) {
	box := shownAt + "boxes/" + shownBox
	w := &walk{base: base, live: []string{"", box, box + "/subscriptions/billing", shownAt + "relays", box + "/messages?follow=true", box + "/operations"}}
	w.pages = []page{
		{"overview", ""},
		{"box", box},
		{"subscription", box + "/subscriptions/billing"},
		{"subscription", box + "/subscriptions/search"},
		{"errors", box + "/errors"},
		{"errors of one", box + "/errors?subscription=billing"},
		{"keys", box + "/keys"},
		{"keys of one", box + "/keys?subscription=audit"},
		{"relays", shownAt + "relays"},
		{"audit", shownAt + "audit"},
		{"operations", box + "/operations"},
		{"replays", box + "/replays"},
		{"samples", "api/v1/" + box + "/samples"},
		{"samples", "api/v1/" + shownAt + "samples"},
	}
	for _, q := range lists(messages) {
		if err := w.addList(ctx, box, q[0], q[1:]...); err != nil {
			return nil, err
		}
	}
	return w, w.addMessages(ctx, box, messages)
}

// lists are the lists of messages: what people call each, and its filters.
func lists(messages int) (out [][]string) {
	for _, state := range []string{"pending", "retrying", "blocked", "held", "dead", "delivered", "discarded", "superseded", "filtered", "scheduled"} {
		out = append(out, []string{state, "state", state})
	}
	past := time.Now().Add(-time.Duration(messages/6000) * time.Second).UTC()
	middle := storekit.Cursor{Ordinal: int64(messages / 2)}.String()
	return append(
		out, []string{"all"}, []string{"oldest", "oldest", "true"}, []string{"in the middle", "cursor", middle}, []string{"in the middle, oldest", "oldest", "true", "cursor", middle},
		[]string{"by topic", "topic", "s.3"}, []string{"by topic none has", "topic", "nowhere"}, []string{"by key", "key", "k77"}, []string{"by type", "type", "o.*"},
		[]string{"by time", "after", past.Format(time.RFC3339), "before", past.Add(time.Minute).Format(time.RFC3339)},
		[]string{"by error", "error", "tenant", "state", "dead"}, []string{"by error none has", "error", "nothing such", "state", "dead"},
		[]string{"of a group", "error", "the account is closed", "state", "dead", "subscription", "billing"}, []string{"of one", "subscription", "search"},
		[]string{"with a count", "state", "dead", "count", "true", "subscription", "billing"}, []string{"of a key, parked", "state", "blocked", "key", "stuck-7"},
		[]string{"followed", "follow", "true"},
	)
}

// addList adds a list of messages, and the page behind it.
func (w *walk) addList(ctx context.Context, box, name string, filters ...string) error {
	v := url.Values{}
	for i := 0; i < len(filters); i += 2 {
		v.Set(filters[i], filters[i+1])
	}
	w.pages = append(w.pages, page{"messages " + name, box + "/messages?" + v.Encode()})
	var found struct {
		Next string `json:"next"`
	}
	if err := w.get(ctx, "api/v1/"+box+"/messages?"+v.Encode(), &found); err != nil || found.Next == "" || v.Get("follow") != "" {
		return err
	}
	v.Set("cursor", found.Next)
	w.pages = append(w.pages, page{"messages " + name + ", next", box + "/messages?" + v.Encode()})
	return nil
}

// addMessages adds the pages of some messages: the newest, old ones, and parked ones with what is parked of their keys.
func (w *walk) addMessages(ctx context.Context, box string, messages int) error {
	places := map[string]string{
		"newest": "", "in the middle": "&cursor=" + storekit.Cursor{Ordinal: int64(messages / 2)}.String(), "oldest": "&oldest=true",
		"dead": "&state=dead", "blocked": "&state=blocked", "scheduled": "&state=scheduled",
	}
	for _, name := range []string{"newest", "in the middle", "oldest", "dead", "blocked", "scheduled"} {
		var found struct {
			Messages []struct {
				ID string `json:"id"`
			} `json:"messages"`
		}
		if err := w.get(ctx, "api/v1/"+box+"/messages?limit=1"+places[name], &found); err != nil {
			return err
		}
		if len(found.Messages) == 0 {
			return fmt.Errorf("the console shows no message: %s", name)
		}
		at := box + "/messages/" + found.Messages[0].ID
		w.pages = append(w.pages, page{"message, " + name, at}, page{"message with payload, " + name, at + "?payload=true"})
		if name == "dead" || name == "blocked" {
			w.pages = append(w.pages, page{"key of a message, " + name, at + "/key"})
		}
	}
	return nil
}

// get asks the API before anything is measured.
func (w *walk) get(ctx context.Context, path string, v any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+path, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.300s", path, res.Status, text)
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	return err
}

// view has people look for a while. Each begins at another page, goes through all, and has an event stream open.
func (w *walk) view(ctx context.Context, span time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var all sync.WaitGroup
	for i := range viewers {
		client := &http.Client{Transport: &http.Transport{}}
		all.Go(func() { w.one(ctx, client, i) })
		all.Go(func() { w.stream(ctx, client, w.live[i%len(w.live)]) })
	}
	all.Wait()
}

// one is a viewer. Each page is of another place in the walk, so that they do not go in step.
func (w *walk) one(ctx context.Context, client *http.Client, number int) {
	// The same in each run.
	random := rand.New(rand.NewPCG(1, uint64(number)))
	at := number * len(w.pages) / viewers
	for {
		pause := think/2 + time.Duration(random.Int64N(int64(think)))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		p := w.pages[at%len(w.pages)]
		at++
		v := w.look(client, p)
		w.mu.Lock()
		w.looks = append(w.looks, v)
		w.mu.Unlock()
	}
}

// look asks for one page, to its end. One that is begun is not cut off.
func (w *walk) look(client *http.Client, p page) (v look) {
	v.page = p.name
	var first time.Time
	trace := &httptrace.ClientTrace{GotFirstResponseByte: func() { first = time.Now() }}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), http.MethodGet, w.base+p.path, nil)
	if err != nil {
		v.err = err.Error()
		return v
	}
	begun := time.Now()
	res, err := client.Do(req)
	if err != nil {
		v.err = err.Error()
		return v
	}
	defer func() { _ = res.Body.Close() }()
	v.bytes, err = io.Copy(io.Discard, res.Body)
	v.took = first.Sub(begun)
	if err != nil || res.StatusCode != http.StatusOK {
		v.err = fmt.Sprint(res.Status, err)
	}
	return v
}

// stream reads an event stream until ctx ends.
func (w *walk) stream(ctx context.Context, client *http.Client, of string) {
	err := w.readEvents(ctx, client, of)
	if err != nil && ctx.Err() == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.looks = append(w.looks, look{page: "event stream", err: err.Error()})
	}
}

// readEvents counts the events of a stream.
func (w *walk) readEvents(ctx context.Context, client *http.Client, of string) error {
	address := w.base + "api/v1/events"
	if of != "" {
		address += "?of=" + url.QueryEscape(of)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", res.Status)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "event: state") {
			w.events.Add(1)
		}
	}
	return errors.Join(lines.Err(), errors.New("it ended"))
}

// pageTimes is what a page took in all looks at it, in milliseconds until its first byte.
type pageTimes struct {
	Page   string  `json:"page"`
	Looks  int     `json:"looks"`
	P50    float64 `json:"p50_ms"`
	P99    float64 `json:"p99_ms"`
	Max    float64 `json:"max_ms"`
	KiB    float64 `json:"kib"`
	Errors int     `json:"errors"`
	Error  string  `json:"error,omitempty"`
}

// timesOf sums looks up, by page, the slowest first.
func timesOf(looks []look) []pageTimes {
	by := map[string][]look{}
	for _, v := range looks {
		by[v.page] = append(by[v.page], v)
	}
	var out []pageTimes
	for name, all := range by {
		t := pageTimes{Page: name, Looks: len(all)}
		var ms []float64
		for _, v := range all {
			if v.err != "" {
				t.Errors, t.Error = t.Errors+1, v.err
				continue
			}
			ms = append(ms, v.took.Seconds()*1000)
			t.KiB += float64(v.bytes) / 1024 / float64(len(all))
		}
		if len(ms) > 0 {
			t.P50, t.P99, t.Max = quantile(ms, 0.5), quantile(ms, 0.99), quantile(ms, 1)
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b pageTimes) int { return -int(a.P99*1000) + int(b.P99*1000) })
	return out
}

func (t *pageTimes) String() string {
	text := fmt.Sprintf("    %-36s %6d looks  p50 %7.1f ms  p99 %7.1f ms  max %7.1f ms  %6.1f KiB", t.Page, t.Looks, t.P50, t.P99, t.Max, t.KiB)
	if t.Errors > 0 {
		text += "  " + strconv.Itoa(t.Errors) + " errors: " + t.Error
	}
	return text
}
