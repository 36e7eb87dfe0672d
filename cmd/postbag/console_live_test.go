package main

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/console"
)

// consoleStream reads a stream until an event has a text, and leaves it open.
func consoleStream(t *testing.T, root, of, until string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, root+"/api/v1/events?"+url.Values{"of": {of}}.Encode(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") && strings.Contains(lines.Text(), until) {
			return
		}
	}
	t.Fatalf("a stream of %s ended (%s, %v) and nothing in it has %s", of, response.Status, lines.Err(), until)
}

func TestTheConsoleIsLiveOnEachKindOfStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ok() // it makes the subscription
		served := start(t, "console", "-c", write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nconsole: {sample: 2s}\n"), "--listen", "0")
		root := consoleAddress(t, served)
		const box = "/api/v1/databases/store/boxes/outbox"
		consoleStream(t, root, box+"/messages?follow=true", `"messages":[]`)
		for range 3 {
			cliWith(t, "the payload", "publish", at.flag, at.where, "--topic", "followed").ok()
		}
		consoleStream(t, root, box+"/messages?follow=true&topic=followed", `"topic":"followed"`)
		consoleStream(t, root, "/databases/store/boxes/outbox/messages?follow=true", `followed`)
		consoleStream(t, root, box, `"backlog":3`)
		await(t, "a sample has the three messages", func() bool {
			all := consoleAnswer[console.Samples](t, root+box+"/samples").Samples
			return len(all) > 0 && *all[len(all)-1].Waiting == 3 && *all[len(all)-1].Oldest > 0
		})
		if _, page := fetch(t, root+"/"); !strings.Contains(page, "Waiting in the last minute. Messages: 3 now, at most 3.") {
			t.Errorf("the page has no charts:\n%s", page)
		}
		began := time.Now()
		if code := served.end(); code != exit.OK {
			t.Errorf("the console ended with %d", code)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("open streams kept the console for %v", took)
		}
	})
}
