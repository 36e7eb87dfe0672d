package remote

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// open opens a client that the test closes.
func open(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestACommandWithoutAnAnswerMayHaveBeenCarriedOut(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"no answer in time": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client is gone
			<-r.Context().Done()
		},
		"a connection that breaks": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			says(w, http.StatusOK, `{"done":1}`)
		},
		"a proxy that has none": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGatewayTimeout) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := open(t, Options{URL: consoleThat(t, answer).URL, Timeout: 500 * time.Millisecond})
			err := c.post(t.Context(), nil, nil, "anything")
			wants(t, err, exit.Unavailable, "the command may have been carried out")
			if strings.Contains(err.Error(), "try again") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestACommandThatIsInterruptedMayHaveBeenCarriedOut(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	s := consoleThat(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		end()
		<-r.Context().Done()
	})
	err := open(t, Options{URL: s.URL}).post(ctx, nil, nil, "anything")
	if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrMayStand) || exit.Of(err) != exit.Interrupted {
		t.Errorf("it says %v", err)
	}
}

func TestACommandThatWasNotSentCanBeGivenAgain(t *testing.T) {
	t.Parallel()
	s := consoleThat(t, http.NotFound)
	c := open(t, Options{URL: s.URL})
	s.Close()
	c.Close() // the connection that it has
	if err := c.post(t.Context(), nil, nil, "anything"); errors.Is(err, ErrMayStand) || exit.Of(err) != exit.Unavailable {
		t.Errorf("it says %v", err)
	}
}
