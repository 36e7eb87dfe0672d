package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postbag/postbag/console"
)

// A viewer sees a payload only if its role may write to the audit log, and then it is there.
func TestLooksAtPayloadsNeedTheRightToAuditThem(t *testing.T) {
	t.Parallel()
	for kind, empty := range map[string]func(*testing.T) *place{"postgresql": emptyDatabase, "mariadb": emptyMariaDB} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			owner := empty(t)
			cli(t, "migrate", "up", owner.flag, owner.where, "--box", "outbox").ok()
			cli(t, "relay", owner.flag, owner.where, "--to", "stdout:", "--drain").ok()
			cliWith(t, "the payload", "publish", owner.flag, owner.where).ok()
			look := func(at *place) (int, string) {
				config := write(t, "postbag.yaml", "store: {dsn_file: \""+at.where+"\"}\ndestinations: {out: {stdout: {}}}\nconsole: {listen: \"0\", payloads: true, audit_payloads: true}\n")
				box := consoleAddress(t, start(t, "console", "-c", config)) + "/api/v1/databases/store/boxes/outbox/messages"
				return fetch(t, box+"/"+consoleAnswer[console.Messages](t, box).Messages[0].ID.String()+"?payload=true")
			}
			if code, body := look(roleOf(t, owner, kind, "see", "--for", "console")); code != http.StatusBadGateway || !strings.Contains(body, "postbag grants ROLE --for console --audit") || strings.Contains(body, "the payload\"") {
				t.Errorf("without the right it answers %d: %s", code, body)
			}
			if code, body := look(roleOf(t, owner, kind, "note", "--for", "console", "--audit")); code != http.StatusOK || !strings.Contains(body, "the payload") {
				t.Errorf("with the right it answers %d: %s", code, body)
			}
			cli(t, "audit", owner.flag, owner.where).ok().says("look at outbox ", systemUser(), "to see payload and headers")
		})
	}
}
