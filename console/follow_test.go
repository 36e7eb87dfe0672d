package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/store"
)

func TestAPageThatFollowsShowsTheNewestMessagesAsTheyCome(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		if err := r.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Shards: 1}}); err != nil {
			t.Fatal(err)
		}
		publish(t, r.Store, 1)
		r.pass(11 * time.Minute)
		of := boxPage + "/messages?follow=true&topic=orders"
		first := r.ask(http.MethodGet, of).Body.String()
		if !strings.Contains(first, "No message matches.") || !strings.Contains(first, `data-events="../../../../api/v1/events?of=%2Fdatabases%2Fshop%2Fboxes%2Foutbox%2Fmessages%3Ffollow%3Dtrue%26topic%3Dorders"`) {
			t.Errorf("eleven minutes later the page is\n%s", first)
		}
		v := r.view(t, of, nil)
		r.pass(time.Second)
		v.says()
		publish(t, r.Store, 2)
		r.pass(6 * time.Second)
		if text := v.says(); strings.Count(text, `<td class="short">orders</td>`) != 2 {
			t.Errorf("after two messages it says\n%s", text)
		}
		r.pass(11 * time.Minute)
		if text := r.ask(http.MethodGet, of).Body.String(); !strings.Contains(text, "No message matches.") {
			t.Errorf("eleven minutes later it shows\n%s", text)
		}
	})
}

func TestPagesThatFollowTheSameAskOnce(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		for range 100 {
			r.view(t, boxPage+"/messages?follow=true", nil)
		}
		r.pass(time.Second)
		before := r.asked.Load()
		r.pass(time.Minute)
		if n := r.asked.Load() - before; n != 12 {
			t.Errorf("100 of them asked %d times in a minute", n)
		}
	})
}

func TestUsersThatFollowTheSameAskOnce(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		for i := range 10 {
			r.view(t, boxPage+"/messages?follow=true", &console.User{Name: fmt.Sprint("user", i), Rights: rights(t, "viewer")})
		}
		r.pass(time.Second)
		before := r.asked.Load()
		r.pass(time.Minute)
		if n := r.asked.Load() - before; n != 12 {
			t.Errorf("ten users asked %d times in a minute", n)
		}
	})
}

func TestOnlyABoundedNumberOfListsIsFollowed(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		var all []*viewer
		for i := range 32 {
			all = append(all, r.view(t, fmt.Sprintf("%s/messages?follow=true&topic=t%d", boxPage, i), nil))
		}
		all[0].says()
		if v := r.view(t, boxPage+"/messages?follow=true", nil); !strings.Contains(v.says(), "32 different lists of messages are followed") || v.code != http.StatusServiceUnavailable {
			t.Errorf("one more is answered with %d", v.code)
		}
		if v := r.view(t, boxPage+"/messages?follow=true&topic=t1", nil); v.left() {
			t.Errorf("one of the same is answered with %d", v.code)
		}
		all[0].end()
		all[0].says()
		if v := r.view(t, boxPage+"/messages?follow=true", nil); v.left() {
			t.Errorf("after one has ended the next is answered with %d", v.code)
		}
	})
}

func TestWhatCannotBeFollowedIsRefused(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		for _, more := range []string{"oldest=true", "cursor=x", "state=scheduled", "before=1999-01-01T00:00:00Z", "format=csv", "follow=false", "count=true&state=dead"} {
			query := "?follow=true&" + more
			if w := r.ask(http.MethodGet, messages+query); w.Code != http.StatusBadRequest {
				t.Errorf("%s answers %d: %s", query, w.Code, w.Body)
			}
		}
		if w := r.ask(http.MethodGet, messages+"?follow=perhaps"); w.Code != http.StatusBadRequest {
			t.Errorf("it answers %d: %s", w.Code, w.Body)
		}
	})
}
