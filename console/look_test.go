package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

var auditing = console.Options{Payloads: true, AuditPayloads: true, Who: "ann@desk"}

func TestALookAtAPayloadIsInTheAuditLogBeforeItIsShown(t *testing.T) {
	t.Parallel()
	m := box(t)
	at := serve(t, auditing, m)
	id := dead(t, at).String()
	for _, quiet := range []string{messages + "/" + id, boxPage + "/messages/" + id, messages + "?format=ndjson", boxPage + "/messages/" + id + "/key", messages + "/01a21ba8-a6c1-7726-8733-257155ba8fe5?payload=true"} {
		get(t, at+quiet)
	}
	lines := func() []store.AuditEntry {
		all, err := m.Audited(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got := lines(); len(got) != 1 { // that of a pause
		t.Fatalf("looks without a payload are in the audit log: %+v", got)
	}
	for i, look := range []string{messages + "/" + id + "?payload=true", boxPage + "/messages/" + id + "?payload=true"} {
		if response, body := get(t, at+look); response.StatusCode != http.StatusOK || !strings.Contains(body, "PAYLOAD") {
			t.Fatalf("%s answers %s: %s", look, response.Status, body)
		}
		got := lines()
		if len(got) != i+2 || got[0].Who != "ann@desk" || got[0].Why == "" || !strings.HasPrefix(got[0].What, "look at outbox "+id+" (") {
			t.Errorf("after %s the audit log is %+v", look, got)
		}
	}
}

// forgetful is a store that cannot write to its audit log.
type forgetful struct {
	*memstore.Store

	err error
}

func (f forgetful) Note(context.Context, store.Audit, string) error { return f.err }

// noteless is a store whose audit log takes no notes.
type noteless struct {
	store.Store
	store.Inspector
	store.Operator
}

func TestAPayloadIsNotShownIfTheLookCannotBeAudited(t *testing.T) {
	t.Parallel()
	m := box(t)
	for want, s := range map[string]store.Store{
		"the disk is full":                               forgetful{m, errors.New("the disk is full")},
		"postbag grants ROLE --for console --audit":      forgetful{m, store.ErrDenied},
		"this kind of store keeps no looks in its audit": noteless{m, m, m},
	} {
		at := serve(t, auditing, s)
		id := dead(t, at).String()
		for _, look := range []string{messages + "/" + id + "?payload=true", boxPage + "/messages/" + id + "?payload=true"} {
			response, body := get(t, at+look)
			if response.StatusCode < 400 || !strings.Contains(body, want) || strings.Contains(body, "PAYLOAD") {
				t.Errorf("%s answers %s without %q: %s", look, response.Status, want, body)
			}
		}
		if response, body := get(t, at+messages+"/"+id); response.StatusCode != http.StatusOK || !json.Valid([]byte(body)) {
			t.Errorf("without its payload the message is not shown either: %s", body)
		}
	}
}

func TestLooksAreAuditedWithANameOnly(t *testing.T) {
	t.Parallel()
	o := console.Options{Databases: []console.Database{{Name: "shop", Store: memstore.New(memstore.Options{})}}, AuditPayloads: true}
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "set Who") {
		t.Errorf("without a name and a login it says %v", err)
	}
}
