package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/webhook"
)

// hook is a webhook's endpoint that refuses some types of messages.
type hook struct {
	url string

	mu      sync.Mutex
	refused map[string]bool
	got     []postbag.Message
}

func startHook(t *testing.T, refused ...string) *hook {
	t.Helper()
	h := &hook{refused: make(map[string]bool)}
	for _, typ := range refused {
		h.refused[typ] = true
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, err := webhook.Receive(r, webhook.ReceiveOptions{Secrets: []string{os.Getenv(hookSecret)}})
		if err != nil {
			t.Errorf("a request that is not right came: %v", err)
			w.WriteHeader(webhook.StatusOf(err))
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.refused[m.Type] {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		h.got = append(h.got, m)
	}))
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// accept has the endpoint take everything from now on.
func (h *hook) accept() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.refused)
}

func (h *hook) messages() []postbag.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]postbag.Message(nil), h.got...)
}

// types are the types of what came, in order.
func (h *hook) types() string {
	text := ""
	for _, m := range h.messages() {
		text += m.Type + " "
	}
	return text
}

// hookConfig writes a configuration with one attempt a message.
func hookConfig(t *testing.T, at *place, url string) string {
	t.Helper()
	return write(t, "postbag.yaml", fmt.Sprintf(`
store: %s
destinations:
  hook:
    webhook:
      url: %s
      secrets_env: [%s]
      allow_private: [127.0.0.0/8]
subscriptions:
  - retry: {max_attempts: 1}
admin: {listen: "127.0.0.1:0"}
log: {level: debug}
`, at.yaml, url, hookSecret))
}
