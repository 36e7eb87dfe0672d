package console_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// viewer takes a stream, as a browser does.
type viewer struct {
	header http.Header
	end    context.CancelFunc

	mu       sync.Mutex
	code     int
	text     strings.Builder
	size     int
	forget   bool
	stuck    bool // it takes nothing, until the deadline
	deadline time.Time
	gone     bool
}

func (v *viewer) Header() http.Header  { return v.header }
func (v *viewer) WriteHeader(code int) { v.code = code }
func (v *viewer) FlushError() error    { return nil }

func (v *viewer) SetWriteDeadline(at time.Time) error {
	v.deadline = at
	return nil
}

func (v *viewer) Write(text []byte) (int, error) {
	v.mu.Lock()
	stuck := v.stuck
	v.mu.Unlock()
	if stuck {
		pass(time.Until(v.deadline))
		return 0, os.ErrDeadlineExceeded
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.size += bytes.Count(text, []byte("event: state\n"))
	if !v.forget {
		v.text.Write(text)
	}
	return len(text), nil
}

// says is what it has got since it was asked last.
func (v *viewer) says() string {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.text.Reset()
	return v.text.String()
}

func (v *viewer) left() bool {
	synctest.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.gone
}

// view opens a stream of an address, as a user if there is one.
func (r *running) view(t *testing.T, of string, u *console.User) *viewer {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	v := &viewer{header: make(http.Header), end: end, code: http.StatusOK}
	if u != nil {
		ctx = console.WithUser(ctx, u)
	}
	at := "/api/v1/events"
	if of != "" {
		at += "?" + url.Values{"of": {of}}.Encode()
	}
	request := httptest.NewRequest(http.MethodGet, at, http.NoBody).WithContext(ctx)
	go func() {
		r.h.ServeHTTP(v, request)
		v.mu.Lock()
		v.gone = true
		v.mu.Unlock()
	}()
	return v
}

func TestAStreamTellsTheStateAgainAndAgainAndEndsWithItsViewer(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		r.pass(time.Second)
		v := r.view(t, "", nil)
		if text := v.says(); !strings.HasPrefix(text, "retry: 5000\n\nevent: state\ndata: {\"databases\":[{\"name\":\"shop\",") || !strings.HasSuffix(text, "}\n\n") {
			t.Errorf("it begins with %s", text)
		}
		if kind := v.header.Get("Content-Type"); kind != "text/event-stream" || v.header.Get("Content-Security-Policy") == "" {
			t.Errorf("it is %s, and its headers are %v", kind, v.header)
		}
		publish(t, r.Store, 3)
		r.pass(6 * time.Second)
		if text := v.says(); strings.Count(text, "event: state\n") != 1 || !strings.Contains(text, `"messages":3`) {
			t.Errorf("after three messages it says %s", text)
		}
		page := r.view(t, boxPage[1:], nil)
		if text := page.says(); text != "retry: 5000\n\n" {
			t.Errorf("of a page that was just loaded it begins with %s", text)
		}
		r.pass(5 * time.Second)
		if text := page.says(); !strings.HasPrefix(text, "event: state\ndata: <!doctype html>\ndata: <html") || !strings.Contains(text, `href="../../../databases/shop/boxes/outbox/messages"`) {
			t.Errorf("of a page it says %s", text)
		}
		if v.left() {
			t.Error("it has ended by itself")
		}
		v.end()
		page.end()
		if !v.left() || !page.left() {
			t.Error("it has not ended with its viewer")
		}
	})
}

func TestTenThousandStreamsCostADatabaseNothingMore(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		all := make([]*viewer, 10_000)
		for i := range all {
			of := []string{"", "/", boxPage, "/databases/shop/relays"}[i%4]
			all[i] = r.view(t, of, nil)
			all[i].mu.Lock()
			all[i].forget = true
			all[i].mu.Unlock()
		}
		synctest.Wait()
		r.pass(30 * time.Second)
		for i, v := range all {
			if v.size < 5 || v.size > 8 {
				t.Fatalf("stream %d has told %d states in half a minute", i, v.size)
			}
		}
		if n := r.looked.Load(); n != 7 {
			t.Errorf("for 10,000 streams the store was read %d times in half a minute", n)
		}
		more := r.view(t, "", nil)
		if text := more.says(); more.code != http.StatusServiceUnavailable || !strings.Contains(text, "there are 10000 streams") {
			t.Errorf("one more is answered with %d: %s", more.code, text)
		}
		r.end()
		synctest.Wait()
		for i, v := range all {
			if !v.gone {
				t.Fatalf("stream %d outlives the console", i)
			}
		}
	})
}

func TestOneUserHasABoundedNumberOfStreams(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		ann, bea := &console.User{Name: "ann", Rights: rights(t, "viewer")}, &console.User{Name: "bea", Rights: rights(t, "viewer")}
		first := r.view(t, "", ann)
		for range 19 {
			r.view(t, "", ann)
		}
		synctest.Wait()
		if v := r.view(t, "", ann); !strings.Contains(v.says(), "you have 20 streams") || v.code != http.StatusServiceUnavailable {
			t.Errorf("the 21st is answered with %d", v.code)
		}
		if v := r.view(t, "", bea); v.left() || v.code != http.StatusOK {
			t.Errorf("somebody else is answered with %d", v.code)
		}
		first.end()
		synctest.Wait()
		if v := r.view(t, "", ann); v.left() || v.code != http.StatusOK {
			t.Errorf("after one has ended the next is answered with %d", v.code)
		}
	})
}

func TestAStreamEndsWithTheRightsOfItsViewer(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		now  *console.User
		says string
	}{
		"the session ended":     {nil, "your session has ended"},
		"the box is taken away": {&console.User{Name: "ann", Rights: rights(t, "viewer@shop/more")}, "there is no such box"},
		"all is taken away":     {&console.User{Name: "ann"}, "this console shows no such database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inRunning(t, console.Options{}, func(t *testing.T, r *running) {
				ann := &console.User{Name: "ann", Rights: rights(t, "viewer@shop/outbox")}
				var now atomic.Pointer[console.User]
				now.Store(ann)
				ann.Again = now.Load
				v := r.view(t, boxPage, ann)
				r.pass(6 * time.Second)
				if text := v.says(); !strings.Contains(text, "event: state") {
					t.Fatalf("with rights it says %s", text)
				}
				now.Store(one.now)
				r.pass(5 * time.Second)
				if text := v.says(); !strings.HasPrefix(text, "event: end\ndata: {\"error\":\""+one.says) || !v.left() {
					t.Errorf("it says %s", text)
				}
			})
		})
	}
}

func TestAStreamHasNothingThatItsViewerMayNotSee(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		if err := r.CreateBox(t.Context(), "hiddenbox"); err != nil {
			t.Fatal(err)
		}
		all := r.view(t, "", &console.User{Name: "bea", Rights: rights(t, "viewer@shop")})
		some := r.view(t, "", &console.User{Name: "ann", Rights: rights(t, "viewer@shop/outbox")})
		page := r.view(t, "/", &console.User{Name: "ann", Rights: rights(t, "viewer@shop/outbox")})
		r.pass(6 * time.Second)
		if text := all.says(); !strings.Contains(text, "hiddenbox") {
			t.Errorf("who may see all sees %s", text)
		}
		for _, v := range []*viewer{some, page} {
			if text := v.says(); !strings.Contains(text, "outbox") || strings.Contains(text, "hiddenbox") {
				t.Errorf("who may see one box sees %s", text)
			}
		}
		for of, want := range map[string]int{
			"/databases/shop/boxes/hiddenbox": 404, "/databases/shop/relays": 403, "/databases/other/relays": 404, "api/v1/databases/shop/boxes/hiddenbox": 404,
		} {
			v := r.view(t, of, &console.User{Name: "ann", Rights: rights(t, "viewer@shop/outbox")})
			if text := v.says(); v.code != want || strings.Contains(text, "event:") {
				t.Errorf("a stream of %s is answered with %d: %s", of, v.code, text)
			}
		}
	})
}

func TestAViewerThatTakesNothingLosesTheStream(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		r.pass(time.Second)
		slow, other := r.view(t, "", nil), r.view(t, "", nil)
		slow.says()
		slow.mu.Lock()
		slow.stuck = true
		slow.mu.Unlock()
		other.says()
		r.pass(13 * time.Second)
		if slow.left() {
			t.Error("it was dropped before ten seconds")
		}
		if n := strings.Count(other.says(), "event: state"); n != 2 {
			t.Errorf("the other was told %d states meanwhile", n)
		}
		r.pass(2 * time.Second)
		if !slow.left() {
			t.Error("it was not dropped")
		}
	})
}

func TestAStreamWithoutNewsSaysThatItIsThere(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{Sample: 30 * time.Second}, func(t *testing.T, r *running) {
		r.pass(time.Second)
		v := r.view(t, "", nil)
		r.pass(40 * time.Second)
		if text := v.says(); strings.Count(text, ": still here\n\n") != 1 || strings.Count(text, "event: state") != 2 {
			t.Errorf("in 40 seconds it says %s", text)
		}
	})
}

func TestAStreamSaysThatADatabaseCannotBeReadAndGoesOn(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		all, box := r.view(t, "/", nil), r.view(t, boxPage, nil)
		r.panicky.Store(1)
		r.pass(6 * time.Second)
		if text := all.says(); !strings.Contains(text, "This database cannot be read: the console, or the store, has a mistake") {
			t.Errorf("the overview says %s", text)
		}
		if text := box.says(); !strings.Contains(text, "event: failure\ndata: {\"error\":\"the console, or the store, has a mistake") {
			t.Errorf("the box says %s", text)
		}
		r.panicky.Store(0)
		r.pass(5 * time.Second)
		if text := box.says(); !strings.HasPrefix(text, "event: state\n") {
			t.Errorf("afterwards it says %s", text)
		}
	})
}

func TestADatabaseThatHangsIsAskedByTheReaderAlone(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		var all []*viewer
		for i := range 40 {
			all = append(all, r.view(t, "", &console.User{Name: fmt.Sprint(i), Rights: rights(t, "viewer")}))
		}
		r.pass(7 * time.Second)
		before := r.looked.Load()
		r.hangs.Store(true)
		r.pass(time.Minute)
		if n := r.looked.Load() - before; n > 6 {
			t.Errorf("in a minute it was asked %d times, though it takes each time ten seconds", n)
		}
		if text := all[7].says(); !strings.Contains(text, "did not answer in time") {
			t.Errorf("a stream says %s", text)
		}
	})
}

func TestWithoutSamplesADatabaseIsReadWhileSomebodyLooks(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{Sample: -1}, func(t *testing.T, r *running) {
		r.pass(time.Hour)
		v := r.view(t, "", nil)
		v.says()
		publish(t, r.Store, 1)
		r.pass(11 * time.Second)
		if text := v.says(); !strings.Contains(text, `"messages":1`) {
			t.Errorf("it says %s", text)
		}
		v.end()
		r.pass(5 * time.Second)
		before := r.looked.Load()
		r.pass(time.Hour)
		if n := r.looked.Load(); n != before {
			t.Errorf("nobody looks any more, and it was read %d times", n-before)
		}
		publish(t, r.Store, 1)
		if text := r.view(t, "", nil).says(); !strings.Contains(text, `"messages":2`) {
			t.Errorf("an hour later it begins with what was then: %s", text)
		}
	})
}

// A deadline ends a stream of HTTP/2 when it passes, even if there is nothing to write.
func TestAStreamHasADeadlineOnlyWhileItWrites(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		v := r.view(t, "", nil)
		r.pass(time.Minute)
		if v.says(); v.left() || !v.deadline.IsZero() {
			t.Errorf("between two events its deadline is %v", v.deadline)
		}
		v.end()
		if !v.left() || v.deadline.IsZero() {
			t.Error("the end of the stream has no deadline")
		}
	})
}

func TestOnlyWhatChangesByItselfIsStreamed(t *testing.T) {
	t.Parallel()
	inRunning(t, console.Options{}, func(t *testing.T, r *running) {
		for _, of := range []string{
			"audit", "/databases/shop/audit", boxPage + "/messages", boxPage + "/messages?follow=false&error=x", boxPage + "/errors", "api/v1/events", "//evil.example/", "/../x", "databases//shop/relays",
			"http://evil.example/", "%zz", "/style.css", "api/v1/overview?x=1", "/?x=1", boxPage + "?trail=1",
		} {
			v := r.view(t, of, nil)
			if text := v.says(); v.code != http.StatusBadRequest || strings.Contains(text, "event:") {
				t.Errorf("a stream of %s is answered with %d: %s", of, v.code, text)
			}
		}
		if w := r.ask(http.MethodHead, "/api/v1/events"); w.Code != http.StatusOK || w.Body.Len() > 0 {
			t.Errorf("HEAD answers %d: %s", w.Code, w.Body)
		}
		r.end()
		synctest.Wait()
		if w := r.ask(http.MethodGet, "/api/v1/events"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("a console that does not run answers %d: %s", w.Code, w.Body)
		}
	})
}

// lines is a store whose pauses have texts that would begin another event.
type lines struct{ *memstore.Store }

func (s lines) Overview(ctx context.Context) (store.Overview, error) {
	o, err := s.Store.Overview(ctx)
	o.Relays = []store.RelayState{{ID: "1", Name: "a\revent: end\rdata: {}\r\r\nevent: end\n\n", Expires: time.Minute}}
	return o, err
}

func TestNoTextBeginsAnEventOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, err := console.New(console.Options{Databases: []console.Database{{Name: "shop", Store: lines{created(t, memstore.New(memstore.Options{}))}}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- h.Run(ctx) }()
		synctest.Wait()
		r := &running{h: h}
		page, api := r.view(t, "/databases/shop/relays", nil), r.view(t, "api/v1/databases/shop/relays", nil)
		pass(6 * time.Second)
		for _, v := range []*viewer{page, api} {
			for line := range strings.SplitSeq(strings.ReplaceAll(v.says(), "\r", "\n"), "\n") {
				if line != "" && line != "event: state" && line != "retry: 5000" && !strings.HasPrefix(line, "data: ") {
					t.Errorf("there is a line %q", line)
				}
			}
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAStreamOutlivesTheTimesOfAServerForRequests(t *testing.T) {
	t.Parallel()
	h, err := console.New(console.Options{Sample: 2 * time.Second, Databases: []console.Database{{Name: "shop", Store: created(t, memstore.New(memstore.Options{}))}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	server := httptest.NewUnstartedServer(console.Loopback(h))
	server.Config.ReadTimeout, server.Config.WriteTimeout = 300*time.Millisecond, 300*time.Millisecond
	server.Start()
	defer server.Close()
	var response *http.Response
	for response == nil || response.StatusCode == http.StatusServiceUnavailable { // until it runs
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/events", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if response, err = http.DefaultClient.Do(request); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
	}
	states := 0
	text := bufio.NewScanner(response.Body)
	text.Buffer(nil, 1<<20)
	for states < 3 && text.Scan() {
		if text.Text() == "event: state" {
			states++
		}
	}
	if states < 3 || text.Err() != nil {
		t.Errorf("after %d states it was cut off: %v", states, text.Err())
	}
	end()
	if err := errors.Join(<-ended, server.Config.Shutdown(t.Context())); err != nil {
		t.Errorf("the end of the console keeps the server from ending: %v", err)
	}
}
