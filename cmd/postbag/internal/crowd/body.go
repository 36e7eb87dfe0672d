package crowd

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// asked is a request with a body, and its answer, as a handler gets them. The server keeps a request of its own, and looks at its body.
func asked(w http.ResponseWriter, r *http.Request, of *member, unread *atomic.Bool) (http.ResponseWriter, *http.Request) {
	own := *r
	own.Body = body{r.Body, of, unread}
	if r.ProtoMajor == 1 {
		w = answer{w, unread}
	}
	return w, &own
}

// body is one that the client has not sent whole yet: while more of it is awaited, nobody answers.
type body struct {
	io.ReadCloser

	of     *member
	unread *atomic.Bool // it has more, as far as is known
}

// Read waits for more of the body.
func (b body) Read(p []byte) (int, error) {
	m := b.of
	m.now(func() { m.answers, m.readers = m.answers-1, m.readers+1 })
	defer m.now(func() { m.answers, m.readers = m.answers+1, m.readers-1 })
	m.crowd.thin()
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.unread.Store(false)
	}
	return n, err
}

// answer is one to a request with a body. Before its header goes out, a server of HTTP/1 awaits what is left of the body, unless the
// connection ends with the answer. So it ends if the handler answers before it has read all.
type answer struct {
	http.ResponseWriter

	unread *atomic.Bool
}

// Unwrap is for [http.ResponseController].
func (a answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader begins the answer.
func (a answer) WriteHeader(code int) {
	a.begin()
	a.ResponseWriter.WriteHeader(code)
}

// Write begins the answer, or goes on with it.
func (a answer) Write(p []byte) (int, error) {
	a.begin()
	return a.ResponseWriter.Write(p)
}

func (a answer) begin() {
	if a.unread.Load() {
		a.Header().Set("Connection", "close")
	}
}
