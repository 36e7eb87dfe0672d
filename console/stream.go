package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"
)

const (
	// mostOfUser is how many streams of one user there are at a time, and mostTails how many different lists of messages they follow:
	// each of these is a question of its own.
	mostOfUser, mostTails = 20, 32
	// stillHere is how often a stream that has nothing to say says so, since some proxies cut off what is silent.
	stillHere = 15 * time.Second
	// streamPatience is how long a reader may take nothing.
	streamPatience = 10 * time.Second
	eventStream    = "text/event-stream"
)

// crowdedError is that of a stream for which there is no place.
type crowdedError struct{ text string }

func (e *crowdedError) Error() string { return e.text }

// Unwrap says that it is errBusy.
func (*crowdedError) Unwrap() error { return errBusy }

// frame is what one beat tells all streams of one key.
type frame struct {
	once sync.Once
	// event is how it goes over the wire. Over: it is the last.
	event []byte
	over  bool
	err   error // why there is no state
}

// stream is one viewer's.
type stream struct {
	c       *console
	of      string // the address of what it shows
	user    *User  // nil: there is no login
	tail    bool
	running context.Context //nolint:containedctx // that of Run
}

// name is that of the user, by which streams are counted.
func (s *stream) name() string {
	if s.user == nil {
		return ""
	}
	return s.user.Name
}

// key is the same for streams that show the same: to all users with the same rights. What is streamed names no user.
func (s *stream) key() string {
	if s.user == nil {
		return s.of
	}
	return fmt.Sprintf("%s\x00%v", s.of, s.user.Rights)
}

// enter counts a stream in, and returns what leaves it again.
func (l *live) enter(s *stream) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := s.name()
	switch {
	case l.running == nil || l.running.Err() != nil:
		return nil, &crowdedError{"this console tells nobody of changes at the moment; ask for the page again and again instead"}
	case l.streams >= l.most:
		return nil, &crowdedError{fmt.Sprintf("there are %d streams, the most there may be; ask for the page again and again instead", l.most)}
	case name != "" && l.users[name] >= mostOfUser:
		return nil, &crowdedError{fmt.Sprintf("you have %d streams, the most that one user may have; close some pages, or ask for the page again and again instead", mostOfUser)}
	case s.tail && l.tails[s.of] == 0 && len(l.tails) >= mostTails:
		return nil, &crowdedError{fmt.Sprintf("%d different lists of messages are followed, the most there may be; try again later, or load the page again and again instead", mostTails)}
	}
	s.running = l.running
	l.count(s, 1)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.count(s, -1); l.streams == 0 { // there may be no beat for long
			l.frames, l.listings = make(map[string]*frame), make(map[string]*listing)
		}
	}, nil
}

func (l *live) count(s *stream, by int) {
	l.streams += by
	change(l.users, s.name(), by)
	if s.tail {
		change(l.tails, s.of, by)
	}
}

func change(counts map[string]int, name string, by int) {
	counts[name] += by
	if counts[name] == 0 {
		delete(counts, name)
	}
}

// frame returns the one of the present beat, and what ends when the next beat begins.
func (l *live) frame(key string) (*frame, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.frames[key]
	if f == nil {
		f = new(frame)
		l.frames[key] = f
	}
	return f, l.beat
}

// tell begins a new beat: all streams have something new to say.
func (l *live) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.beat)
	l.beat, l.frames, l.listings = make(chan struct{}), make(map[string]*frame), make(map[string]*listing)
}

func (l *live) watched() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.streams > 0
}

// events answers with a stream of the states of what a page, or the API, shows.
func (c *console) events(w http.ResponseWriter, r *http.Request) error {
	s := &stream{c: c, of: "/" + strings.TrimPrefix(cmp.Or(r.URL.Query().Get("of"), "api/v1/overview"), "/"), user: userOf(r.Context())}
	asked, err := url.ParseRequestURI(s.of)
	if err != nil || !c.isLive(asked) {
		return badRequestf("of is no address of a page, or of the API, that changes by itself; write one such as /api/v1/overview")
	}
	s.tail = followsNewest(asked)
	leave, err := c.live.enter(s)
	if err != nil {
		return err
	}
	defer leave()
	first, beat := s.next()
	if first.over {
		return first.err
	}
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep it back
	if r.Method == http.MethodHead {
		return nil
	}
	to := http.NewResponseController(w)
	if err := to.Flush(); errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("console: what serves it cannot stream: %w", err)
	}
	defer func() { _ = to.SetWriteDeadline(time.Now().Add(streamPatience)) }() // for the end of the answer
	s.run(r.Context(), sender{w, to}, first, beat)
	return nil
}

// run sends what there is to say until somebody ends it.
func (s *stream) run(ctx context.Context, to sender, f *frame, beat <-chan struct{}) {
	begin := []byte("retry: 5000\n\n")
	if strings.HasPrefix(s.of, "/api/") { // a page has just been loaded, and may be newer
		begin = append(begin, f.event...)
	}
	if to.send(begin) != nil {
		return
	}
	silence := time.NewTicker(stillHere)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.running.Done():
			return
		case <-silence.C:
			if to.send([]byte(": still here\n\n")) != nil {
				return
			}
		case <-beat:
			if f, beat = s.next(); to.send(f.event) != nil || f.over {
				return
			}
			silence.Reset(stillHere)
		}
	}
}

// renew looks who the viewer is now. It says whether they are still logged in.
func (s *stream) renew() bool {
	if s.user == nil || s.user.Again == nil {
		return true
	}
	now := s.user.Again()
	if now == nil {
		return false
	}
	again := s.user.Again
	s.user = &User{Name: s.user.Name, Rights: now.Rights, Session: now.Session, Again: again}
	return true
}

// next returns what the present beat says, made by the first stream that asks for it.
func (s *stream) next() (*frame, <-chan struct{}) {
	if !s.renew() {
		f := &frame{err: &forbiddenError{"your session has ended; load the page again to log in"}}
		f.event, f.over = failure("end", f.err.Error()), true
		return f, nil
	}
	f, beat := s.c.live.frame(s.key())
	f.once.Do(func() { s.c.fill(s, f) })
	return f, beat
}

// fill makes a frame.
func (c *console) fill(s *stream, f *frame) {
	r := (&http.Request{Method: http.MethodGet, URL: must(url.ParseRequestURI(s.of)), Header: make(http.Header)}).WithContext(s.context())
	w := &capture{header: make(http.Header), asked: r}
	defer func() {
		if mistake := recover(); mistake != nil {
			f.err = mistakeError(mistake)
			_, text := c.explained(w, w.asked, f.err)
			f.event = failure("failure", text)
		}
	}()
	c.liveRoutes.ServeHTTP(w, r)
	if w.err == nil {
		f.event = event("state", w.body.Bytes())
		return
	}
	code, text := c.explained(w, w.asked, w.err)
	kind := "failure"
	if f.err = w.err; code == http.StatusForbidden || code == http.StatusNotFound || code == http.StatusBadRequest {
		kind, f.over = "end", true
	}
	f.event = failure(kind, text)
}

// must returns what was read once already.
func must(u *url.URL, _ error) *url.URL { return u }

type liveKey struct{}

// context is that of what the stream asks: it ends with Run, and not with the one viewer who happens to be the first.
func (s *stream) context() context.Context {
	ctx := context.WithValue(s.running, liveKey{}, true)
	if s.user != nil {
		ctx = WithUser(ctx, s.user)
	}
	return ctx
}

// forStreams says whether a question is that of a stream: it takes what the reader found.
func forStreams(ctx context.Context) bool { return ctx.Value(liveKey{}) != nil }

// capture takes an answer for a stream.
type capture struct {
	header http.Header
	body   bytes.Buffer
	err    error
	asked  *http.Request
}

func (w *capture) Header() http.Header            { return w.header }
func (*capture) WriteHeader(int)                  {}
func (w *capture) Write(text []byte) (int, error) { return w.body.Write(text) }

// liveMux has the routes that can be streamed. It answers only a capture.
func (c *console) liveMux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range routes() {
		if !r.live {
			continue
		}
		mux.HandleFunc(r.verb()+" "+r.path, func(w http.ResponseWriter, req *http.Request) {
			to, is := w.(*capture)
			if !is {
				return
			}
			req = withReadings(req)
			to.asked = req
			if to.err = c.allow(&r, req); to.err == nil {
				to.err = r.check(req)
			}
			if to.err == nil {
				to.err = r.handle(c, w, req)
			}
		})
	}
	return mux
}

// isLive says whether what is at an address can be streamed. Of lists of messages only those can that follow the newest.
func (c *console) isLive(asked *url.URL) bool {
	_, pattern := c.liveRoutes.Handler(&http.Request{Method: http.MethodGet, URL: asked})
	return pattern != "" && asked.Path == path.Clean(asked.Path) && (!strings.HasSuffix(pattern, "/messages") || followsNewest(asked))
}

// sender sends events to one viewer.
type sender struct {
	w  http.ResponseWriter
	to *http.ResponseController
}

// send sends one event. A viewer that takes nothing for a while gets an error, and so loses the stream.
func (s sender) send(text []byte) error {
	if err := s.to.SetWriteDeadline(time.Now().Add(streamPatience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	if err := s.to.Flush(); err != nil {
		return err
	}
	_ = s.to.SetWriteDeadline(time.Time{}) // HTTP/2 ends a stream when it passes, whether there is something to write or not
	return nil
}

// event writes an event. Every kind of line end is one for a browser, so a text of somebody else cannot begin another event.
func event(kind string, text []byte) []byte {
	out := bytes.NewBufferString("event: " + kind + "\n")
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for line := range bytes.SplitSeq(bytes.TrimRight(text, "\n"), []byte("\n")) {
		out.WriteString("data: ")
		out.Write(line)
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// failure writes an event that says why there is no state.
func failure(kind, why string) []byte {
	text, _ := json.Marshal(Failure{Error: why}) //nolint:errchkjson // a text
	return event(kind, text)
}
