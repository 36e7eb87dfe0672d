package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/cmd/postbag/internal/remote"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// clerkAtWork is a console that works an operation as a test says.
type clerkAtWork struct {
	mu sync.Mutex
	// looks are what is seen of the operation, one look after another. The last one stays.
	looks []string
	// pause is the answer to a pause: its error. Empty: the operation is paused.
	pause string
	// whys are why it was to be paused.
	whys []string
}

// Parts of what is seen of an operation.
const (
	runs  = `"state":"running"`
	ended = `"state":"done","at":9,"given":9`
)

func (w *clerkAtWork) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	to.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(r.URL.Path, "/about"):
		_, _ = io.WriteString(to, `{"product":"postbag","api":1,"databases":["shop"],"commands":true}`)
		return
	case r.Method == http.MethodPost:
		w.whys = append(w.whys, r.PostFormValue("why"))
		if w.pause != "" {
			to.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(to, `{"error":%q,"kind":"invalid"}`, w.pause)
			return
		}
		w.looks = []string{`"state":"paused","at":4`}
	}
	_, _ = fmt.Fprintf(to, `{"id":7,"kind":"discard","box":"outbox","subscription":"default","of":"dead","matched":9,%s}`, w.looks[0])
	if r.Method == http.MethodGet && len(w.looks) > 1 {
		w.looks = w.looks[1:]
	}
}

// followed follows the operation of such a console. If interrupted is set, the user ends the command meanwhile.
func (w *clerkAtWork) followed(t *testing.T, why string, interrupted bool) (said string, err error) {
	t.Helper()
	server := httptest.NewServer(w)
	defer server.Close()
	c, err := remote.Open(t.Context(), remote.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	if interrupted {
		time.AfterFunc(followEvery/2, end)
	}
	var out buffer
	err = followOperation(ctx, &terminal.Terminal{In: strings.NewReader(""), Out: &out, Err: &out}, c, store.Audit{Why: why}, 7)
	return out.String(), err
}

func TestAnOperationThatIsFollowedTellsItsTrouble(t *testing.T) {
	t.Parallel()
	w := &clerkAtWork{looks: []string{runs, runs + `,"trouble":"the disk is full"`, runs + `,"trouble":"the disk is full"`, runs, ended}}
	said, err := w.followed(t, "a flood", false)
	if err != nil || strings.Count(said, "the disk is full") != 1 || !strings.Contains(said, "operation 7 goes on") || !strings.Contains(said, "queued 9 of 9") {
		t.Errorf("it says %q: %v", said, err)
	}
}

func TestAnOperationThatNobodyWorksForAWhileIsTold(t *testing.T) {
	t.Parallel()
	var out buffer
	tell := unworked(&terminal.Terminal{Err: &out}, 7)
	for range idleLooks - 1 {
		tell(true)
	}
	tell(false)
	if said := out.String(); said != "" {
		t.Errorf("of a moment it says %q", said)
	}
	for range 2 * idleLooks {
		tell(true)
	}
	tell(false)
	tell(false)
	if said := out.String(); strings.Count(said, "nobody works operation 7") != 1 || strings.Count(said, "operation 7 goes on") != 1 {
		t.Errorf("it says %q", said)
	}
}

func TestAFollowerThatIsInterruptedPausesTheOperation(t *testing.T) {
	t.Parallel()
	w := &clerkAtWork{looks: []string{runs}}
	said, err := w.followed(t, strings.Repeat("\u00e9", operations.MaxAuditText/2), true)
	if !errors.Is(err, context.Canceled) || !strings.Contains(said, "operation 7 waits, with 4 of 9 messages handled") {
		t.Errorf("it says %q: %v", said, err)
	}
	if len(w.whys) != 1 || operations.ValidAudit(store.Audit{Who: "ann", Why: w.whys[0]}) != nil || !strings.HasPrefix(w.whys[0], "interrupted: \u00e9") {
		t.Errorf("the pause has the reasons %q", w.whys)
	}
}

func TestAnOperationThatEndsBeforeItsFollowerCanPauseItSaysSo(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*clerkAtWork{
		"before the look":  {looks: []string{runs, ended}},
		"before the pause": {looks: []string{runs, runs, runs, ended}, pause: "operation 7 is done"}, // a pause looks too
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, err := w.followed(t, "a flood", true)
			if err != nil || strings.Contains(said, "may go on") || !strings.Contains(said, "queued 9 of 9") {
				t.Errorf("it says %q: %v", said, err)
			}
		})
	}
}

func TestAnOperationThatCannotBePausedMayGoOn(t *testing.T) {
	t.Parallel()
	w := &clerkAtWork{looks: []string{runs}, pause: "it needs the role operator"}
	said, err := w.followed(t, "a flood", true)
	if !errors.Is(err, context.Canceled) || !strings.Contains(said, "operation 7 may go on in the console, since it could not be paused: it needs the role operator") {
		t.Errorf("it says %q: %v", said, err)
	}
}

func TestAnInterruptedCommandThatMayStandSaysSo(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("%w; %w", context.Canceled, remote.ErrMayStand)
	if text := interrupted(err).Error(); exit.Of(err) != exit.Interrupted || !strings.Contains(text, "interrupted; the command may have been carried out") {
		t.Errorf("it says %q", text)
	}
}
