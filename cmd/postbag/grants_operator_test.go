package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/console"
)

// roleOf makes a role of a database with the rights that postbag grants prints, and returns where it is under that role.
func roleOf(t *testing.T, owner *place, kind, role string, args ...string) *place {
	t.Helper()
	dsn := dsnOf(t, owner)
	database := strings.Trim(dsn.Path, "/")
	role += "_" + database
	if kind == "postgresql" {
		conn, err := pgx.Connect(t.Context(), postgres.Server(t).DSN(database))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		if _, err := conn.Exec(t.Context(), "CREATE ROLE "+role+" LOGIN PASSWORD 'x'"); err != nil {
			t.Fatal(err)
		}
		execute(t, owner, cli(t, append([]string{"grants", role}, args...)...).ok().out)
	} else {
		statements := []string{"CREATE USER " + role + "@'%' IDENTIFIED BY 'x'"}
		for line := range strings.Lines(cli(t, append([]string{"grants", role + "@%", "--store-kind", kind, "--box", "outbox"}, args...)...).ok().out) {
			statements = append(statements, strings.Replace(line, " ON postbag", " ON "+database+".postbag", 1))
		}
		if err := asRoot(statements...); err != nil {
			t.Fatal(err)
		}
	}
	dsn.User = url.UserPassword(role, "x")
	return &place{flag: "--store-file", where: write(t, "dsn", dsn.String()+"\n")}
}

// sendForm sends a command to the API of a console.
func sendForm(t *testing.T, address string, fields url.Values) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(fields.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// commandsOf are all commands of a console over the box of ordersBehindADeadOne, with a message that is scheduled.
func consoleCommands(t *testing.T, root string) (all map[string]url.Values) {
	t.Helper()
	box := root + "/api/v1/databases/store/boxes/outbox"
	list := func(state string) console.Messages {
		return consoleAnswer[console.Messages](t, box+"/messages?state="+state)
	}
	all = make(map[string]url.Values)
	dead, later := list("dead").Messages, list("scheduled").Messages
	if len(dead) != 1 || len(later) != 2 {
		t.Fatalf("there are %d dead and %d scheduled messages", len(dead), len(later))
	}
	say := func(address, do string, more ...string) {
		fields := url.Values{"do": {do}, "why": {"a test"}}
		for i := 0; i < len(more); i += 2 {
			fields.Set(more[i], more[i+1])
		}
		all[address+"#"+do] = fields
	}
	group := consoleAnswer[console.Errors](t, box+"/errors").Groups[0]
	say(box+"/messages/"+dead[0].ID.String()+"/commands", "retry", "subscription", "default")
	say(box+"/errors/commands", "discard", "subscription", "default", "state", "dead", "kind", group.Kind)
	say(box+"/messages/"+later[0].ID.String()+"/commands", "retry")
	say(box+"/messages/"+later[1].ID.String()+"/commands", "discard")
	say(box+"/subscriptions/default/commands", "pause", "for", "2h")
	say(box+"/subscriptions/default/commands", "resume")
	say(box+"/errors/notes", "set", "subscription", "default", "kind", group.Kind, "note", "the vendor was told")
	say(box+"/errors/notes", "remove", "subscription", "default", "kind", group.Kind)
	return all
}

// An operator's rights are enough for every command of the console, and a viewer's for none: the error says which help.
func TestTheGrantsOfAnOperatorAllowTheCommandsOfTheConsole(t *testing.T) {
	t.Parallel()
	for kind, empty := range map[string]func(*testing.T) *place{"postgresql": emptyDatabase, "mariadb": emptyMariaDB} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			owner := empty(t)
			cli(t, "migrate", "up", owner.flag, owner.where, "--box", "outbox").ok()
			_, _, relay := ordersBehindADeadOne(t, owner)
			relay.end() // nobody carries out what is queued
			for range 2 {
				cli(t, "publish", owner.flag, owner.where, "--payload", "later", "--not-before", "1h").ok()
			}
			see := roleOf(t, owner, kind, "see", "--for", "console", "--role", "viewer")
			root := consoleAddress(t, start(t, "console", see.flag, see.where, "--listen", "0", "--commands"))
			for address, fields := range consoleCommands(t, root) {
				if code, body := sendForm(t, address, fields); code != http.StatusBadGateway || !strings.Contains(body, "postbag grants ROLE --for console --role operator") {
					t.Errorf("%s by a viewer: %d %s", address, code, body)
				}
			}
			args := []string{"--for", "console", "--role", "operator"}
			if kind == "postgresql" {
				args = append(args, "--box", "outbox")
			}
			act := roleOf(t, owner, kind, "act", args...)
			root = consoleAddress(t, start(t, "console", act.flag, act.where, "--listen", "0", "--commands", "--payloads"))
			for address, fields := range consoleCommands(t, root) {
				if code, body := sendForm(t, address, fields); code != http.StatusOK {
					t.Errorf("%s by an operator: %d %s", address, code, body)
				}
			}
			if lines := consoleAnswer[console.Audit](t, root+"/api/v1/databases/store/audit").Lines; len(lines) < 7 { // a note may be removed before it is written
				t.Errorf("the audit log is %+v", lines)
			}
			if got := cli(t, "publish", act.flag, act.where, "--payload", "x"); got.code == 0 {
				t.Error("an operator publishes")
			}
		})
	}
}
