package main

import (
	"fmt"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/store"
)

// letters are the messages that the endpoint has.
func (h *hook) letters() []postbag.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]postbag.Message(nil), h.got...)
}

func TestRelaySendsDeadLettersToAnotherDestination(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		partner, alarms := startHook(t, "bad"), startHook(t)
		config := write(t, "postbag.yaml", fmt.Sprintf(`
store: %s
destinations:
  partner: {webhook: {url: %q, secrets_env: [%[4]s], allow_private: [127.0.0.0/8]}}
  alarms: {webhook: {url: %[3]q, secrets_env: [%[4]s], allow_private: [127.0.0.0/8]}}
subscriptions:
- {to: partner, retry: {max_attempts: 1}, dead_to: {box: dead, to: alarms}}
`, at.yaml, partner.url, alarms.url, hookSecret))
		cliWith(t, `{"topic":"orders","key":"a","type":"bad","payload":"1"}`, "publish", "-c", config, "--ndjson").ok()
		cli(t, "relay", "-c", config).ends(exit.NotFound, "dead", "postbag migrate up --box")
		cli(t, "migrate", "up", "-c", config, "--box", "dead").ok()
		relay := start(t, "relay", "-c", config)
		await(t, "the dead letter is delivered", func() bool { return len(alarms.letters()) == 1 })
		cli(t, "messages", "list", "-c", config, "--state", "dead").ok().says("orders")
		await(t, "the dead letter is listed", func() bool {
			out := cli(t, "messages", "list", "-c", config, "--box", "dead", "--state", "delivered", "--json").ok().out
			return out != ""
		})
		if code := relay.end(); code != exit.OK {
			t.Fatalf("the relay ended with %d:\n%s", code, relay.err.String())
		}
		m := alarms.letters()[0]
		if m.Topic != "orders" || m.Key != "a" || m.Type != "bad" || string(m.Payload) != "1" || m.Headers[store.HeaderDeadCause] != "attempts" || m.Headers[store.HeaderDeadBox] != "outbox" {
			t.Errorf("the dead letter is %+v", m)
		}
	})
}
