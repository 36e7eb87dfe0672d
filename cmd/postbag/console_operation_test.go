package main

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

func TestTheConsoleWorksAnOperationInEachKindOfStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ok() // it makes the subscription
		for range 3 {
			cliWith(t, "the payload", "publish", at.flag, at.where, "--topic", "one").ok()
		}
		root := consoleAddress(t, start(t, "console", at.flag, at.where, "--listen", "0", "--commands"))
		box := root + "/api/v1/databases/store/boxes/outbox"
		was := consoleAnswer[operations.Matched](t, box+"/operations/preview?state=pending")
		if was.Messages != 3 || was.AtLeast || was.Subscription != "default" {
			t.Fatalf("it counts %+v", was)
		}
		cliWith(t, "the payload", "publish", at.flag, at.where, "--topic", "behind the count").ok()
		n := strconv.Itoa(was.Messages)
		code, body := sendForm(t, box+"/operations/commands", url.Values{
			"do": {"discard"}, "state": {"pending"}, "messages": {n}, "confirm": {n}, "as_of": {was.AsOf.Format(time.RFC3339Nano)}, "why": {"a flood"},
		})
		if code != http.StatusOK || body != "{\"operation\":1}\n" {
			t.Fatalf("it answers %d: %s", code, body)
		}
		var o operations.Operation
		await(t, "the operation is done", func() bool {
			o = consoleAnswer[operations.Operation](t, box+"/operations/1")
			return o.State == store.OperationDone
		})
		if o.Given != 3 || o.Changed != 0 || o.Subscription != "default" {
			t.Errorf("in the end it is %+v", o)
		}
		if lines := consoleAnswer[console.Audit](t, root+"/api/v1/databases/store/audit").Lines; len(lines) != 2 || lines[0].Why != "a flood" || !strings.Contains(lines[1].What, "--state pending") {
			t.Errorf("the audit log is %+v", lines)
		}
		if left := consoleAnswer[console.Messages](t, box+"/messages?state=pending&topic=behind+the+count").Messages; len(left) != 1 || left[0].Queued != "" {
			t.Errorf("of the message that came behind the count there is %+v", left)
		}
	})
}
