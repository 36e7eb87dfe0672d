package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/console"
)

func TestTheConsoleHidesWhatTheFileSaysOnEachKindOfStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ok() // it makes the subscription
		cliWith(t, `{"card":{"number":"4711"},"note":"seen"}`, "publish", at.flag, at.where, "--header", "X-Key=4711").ok()
		config := write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nconsole: {listen: \"0\", payloads: true, redact: {headers: [x-*], json: [\"$..number\"]}}\n")
		box := consoleAddress(t, start(t, "console", "-c", config)) + "/api/v1/databases/store/boxes/outbox/messages"
		id := consoleAnswer[console.Messages](t, box).Messages[0].ID.String()
		for _, address := range []string{box + "/" + id + "?payload=true", strings.Replace(box, "/api/v1", "", 1) + "/" + id + "?payload=true"} {
			if code, body := fetch(t, address); code != http.StatusOK || strings.Contains(body, "4711") || !strings.Contains(body, "***") || !strings.Contains(body, "seen") {
				t.Errorf("%s answers %d: %s", address, code, body)
			}
		}
	})
}

func TestAMistakeInARuleEndsTheConsoleAndTheCheckOfTheFile(t *testing.T) {
	t.Parallel()
	path := write(t, "postbag.yaml", "store: {dsn: a.db}\ndestinations: {out: {stdout: {}}}\nconsole: {redact: {headers: [\"a b\"], json: [\"$.a\", \"$[0:2]\"], other: hide}}\n")
	for _, args := range [][]string{{"console", "-c", path}, {"config", "check", "-c", path}} {
		o := cli(t, args...)
		for _, want := range []string{"console.redact.headers[0]", `is the name of no header`, "console.redact.json[1]", "slices"} {
			if o.code != exit.Usage || !strings.Contains(o.out+o.err, want) {
				t.Errorf("%v ends with %d and says no %q:\n%s%s", args, o.code, want, o.out, o.err)
			}
		}
	}
}
