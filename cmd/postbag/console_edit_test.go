package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/console"
)

// An operator publishes an edited message only with the rights that --edits prints, which are enough.
func TestEditsNeedTheRightsThatAreForThem(t *testing.T) {
	t.Parallel()
	for kind, empty := range map[string]func(*testing.T) *place{"postgresql": emptyDatabase, "mariadb": emptyMariaDB} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			owner := empty(t)
			cli(t, "migrate", "up", owner.flag, owner.where, "--box", "outbox").ok()
			cli(t, "relay", owner.flag, owner.where, "--to", "stdout:", "--drain").ok()
			cliWith(t, "the old payload", "publish", owner.flag, owner.where).ok()
			edit := func(role string, more ...string) (int, string) {
				args := append([]string{"--for", "console", "--role", "operator"}, more...)
				if kind == "postgresql" {
					args = append(args, "--box", "outbox")
				}
				at := roleOf(t, owner, kind, role, args...)
				config := write(t, "postbag.yaml", "store: {dsn_file: \""+at.where+"\"}\ndestinations: {out: {stdout: {}}}\nconsole: {listen: \"0\", payloads: true, commands: true, edits: true}\n")
				box := consoleAddress(t, start(t, "console", "-c", config)) + "/api/v1/databases/store/boxes/outbox/messages"
				return sendForm(t, box+"/"+consoleAnswer[console.Messages](t, box).Messages[0].ID.String()+"/edits", url.Values{"payload": {"the new payload"}, "why": {"a test"}})
			}
			if code, body := edit("act"); code != http.StatusBadGateway || !strings.Contains(body, "print them with --edits") {
				t.Errorf("without the rights it answers %d: %s", code, body)
			}
			if code, body := edit("edit", "--edits"); code != http.StatusOK {
				t.Errorf("with the rights it answers %d: %s", code, body)
			}
			if lines := arrived(t, owner); len(lines) != 2 {
				t.Errorf("%d messages came, and not the old one and the new one", len(lines))
			}
		})
	}
}
