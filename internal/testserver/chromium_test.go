package testserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver/servertest"
)

func TestChromiumTakesCommandsUntilItIsClosed(t *testing.T) {
	t.Parallel()
	browser := servertest.Chromium(t)
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, browser.URL()+"/json/list", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil || !strings.Contains(string(pages), `"about:blank"`) {
		t.Errorf("its pages are %s, %v", pages, err)
	}
	if err := browser.Close(); err != nil {
		t.Error(err)
	}
	if answer, err := http.DefaultClient.Do(ask.Clone(t.Context())); err == nil {
		_ = answer.Body.Close()
		t.Error("a closed browser answers")
	}
}
