package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/proof/history"
)

// record writes a history in which message b was lost, if it says so, and a was delivered twice.
func record(t *testing.T, lost bool) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "history")
	w, err := history.Create(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []history.ID{history.Name("a"), history.Name("b")} {
		tx, at := history.Tx(i), time.Duration(i)*time.Second
		w.Intend(history.Intent{Tx: tx, ID: id, Key: "k", Begin: at, End: at + 1})
		w.End(history.Outcome{Tx: tx, Fate: history.Committed, Begin: at + 1, End: at + 2})
		if i == 0 || !lost {
			w.Deliver(history.Delivery{ID: id, Key: "k", Place: "s", Position: uint64(i), From: at + 3, To: at + 3})
		}
	}
	w.Apply(history.Effect{ID: history.Name("a"), Key: "k"})
	w.Deliver(history.Delivery{ID: history.Name("a"), Key: "k", Place: "s", Position: 9, From: 9 * time.Second, To: 9 * time.Second})
	w.Break(history.Fault{Kind: "kill", Begin: 7 * time.Second, End: 8 * time.Second})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestTheVerdictIsPrintedAndSetsTheExitCode(t *testing.T) {
	t.Parallel()
	good, bad := record(t, false), record(t, true)
	for _, one := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"check", "-slack", "2s", good}, exitHeld, "lost         held; judged 2 committed messages, delivered 2"},
		{[]string{"check", good}, exitBroken, "duplicates   BROKEN 1 times"},
		{[]string{"check", "-slack", "2s", "-exactly-once", good}, exitBroken, "promised exactly once"},
		{[]string{"check", "-slack", "2s", bad}, exitBroken, "lost         BROKEN 1 times"},
		{[]string{"check", "-slack", "2s", "-json", bad}, exitBroken, `"promise": "lost"`},
		{[]string{"show", good}, exitHeld, `{"fault":{"kind":"kill"`},
		{[]string{"show", good}, exitHeld, `{"effect":{"id":"`},
		{[]string{"check", "-slack", "2s", good}, exitHeld, "applied      held; judged 1 messages, effects 1"},
		{[]string{"check", "-slack", "2s", "-effects", "order", good}, exitBroken, "applied      BROKEN 1 times"},
		{[]string{"check", "-unread", good}, exitBroken, "lost         not put to the test"},
	} {
		var out, diag bytes.Buffer
		code, err := run(one.args, &out, &diag)
		if code != one.code || err != nil || !strings.Contains(out.String(), one.want) {
			t.Errorf("%v: %d, %v, %s%s", one.args, code, err, &out, &diag)
		}
	}
}

func TestTheReportIsJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if _, err := run([]string{"check", "-json", record(t, true)}, &out, &out); err != nil {
		t.Fatal(err)
	}
	var report struct {
		Verdicts []struct {
			Promise  string
			Held     bool
			Broken   int
			Examples []struct {
				Messages []struct{ ID string }
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Verdicts {
		if v.Promise == "lost" && (v.Held || v.Broken != 1 || v.Examples[0].Messages[0].ID != history.Name("b").String()) {
			t.Errorf("%+v", v)
		}
	}
}

func TestBadArgumentsAreReported(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		nil,
		{"judge"},
		{"check"},
		{"show"},
		{"check", "-no-such-flag", "x"},
		{"check", "-slack", "-1s", record(t, false)},
		{"check", filepath.Join(t.TempDir(), "gone")},
		{"show", filepath.Join(t.TempDir(), "gone")},
		{"show", "-json", record(t, false)},
		{"check", record(t, false), "-json"},
		{"check", "-memory", "-1", record(t, false)},
		{"check", "-memory", "9000000000000000", record(t, false)},
		{"check", "-dir", filepath.Join(t.TempDir(), "gone"), record(t, false)},
		{"check", "-effects", "twice", record(t, false)},
		{"check", recorded(t, func(*history.Writer) {})},
		{"check", recorded(t, func(w *history.Writer) { w.Apply(history.Effect{}) })},
		{"check", recorded(t, func(w *history.Writer) { w.Deliver(history.Delivery{}) })},
	} {
		var out bytes.Buffer
		if code, err := run(args, &out, &out); code != exitUse || err == nil {
			t.Errorf("%v: %d, %v", args, code, err)
		}
	}
}

func TestHelpIsPrintedWhenAskedFor(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		args []string
		want string
	}{
		{[]string{"-h"}, "check -h for the flags"},
		{[]string{"help"}, "show FILE"},
		{[]string{"check", "-h"}, "-exactly-once"},
		{[]string{"show", "-h"}, "show FILE"},
	} {
		var out, diag bytes.Buffer
		if code, err := run(one.args, &out, &diag); code != exitHeld || err != nil || !strings.Contains(out.String(), one.want) {
			t.Errorf("%v: %d, %v, %s%s", one.args, code, err, &out, &diag)
		}
	}
}

// recorded is the file of one recorder.
func recorded(t *testing.T, what func(*history.Writer)) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "recorded")
	w, err := history.Create(name, 0)
	if err == nil {
		what(w)
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}
