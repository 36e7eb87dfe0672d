package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// hidden runes that a terminal obeys, or that mislead who reads.
const evil = "a\x00\x1b[2J\x07\x7f\u0085\u009b\u200b\u202e\u2066\u2028\ufeff\U000e0001z"

func TestPrintableEscapesControlCharacters(t *testing.T) {
	t.Parallel()
	for _, got := range []string{Printable(evil), strings.ReplaceAll(PrintableText(evil), "\n", "")} {
		if at := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) }); at >= 0 || !strings.HasPrefix(got, "a·") {
			t.Errorf("%q still holds what does not show, at %d", got, at)
		}
	}
	const good = "größe 日本 😀 «x» \u00a0."
	if got := Printable(good); got != good {
		t.Errorf("%q became %q", good, got)
	}
	if got := PrintableText("a\n\tb\r"); got != "a\n\tb·" {
		t.Errorf("the text became %q", got)
	}
	if got := Printable("\xff"); strings.Contains(got, "\xff") {
		t.Errorf("a byte that is no text came through: %q", got)
	}
}

func TestShortCutsBetweenRunes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "abc": "abc", "abcd": "ab…", "äöüß": "äö…"} {
		if got := Short(in, 3); got != want {
			t.Errorf("Short(%q) is %q, want %q", in, got, want)
		}
	}
}

func FuzzJSONIsSafeForATerminalAndSaysTheSame(f *testing.F) {
	f.Add(evil)
	f.Add("plain <&> text")
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		c := &Terminal{Out: &out}
		if err := c.Line(map[string]string{text: text}); err != nil {
			t.Fatal(err)
		}
		if at := bytes.IndexFunc(bytes.TrimSuffix(out.Bytes(), []byte("\n")), func(r rune) bool { return !unicode.IsGraphic(r) }); at >= 0 {
			t.Errorf("%q was written as %q", text, out.String())
		}
		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil {
			t.Fatalf("%q is no JSON: %v", out.String(), err)
		}
		want := strings.ToValidUTF8(text, "\ufffd")
		for _, got := range back {
			if strings.ReplaceAll(got, "\ufffd", "") != strings.ReplaceAll(want, "\ufffd", "") {
				t.Errorf("%q came back as %q", text, got)
			}
		}
	})
}

func TestErrorsAreShownLineByLineWithoutSecrets(t *testing.T) {
	t.Parallel()
	var err bytes.Buffer
	c := &Terminal{Err: &err}
	c.Fail(errors.Join(errors.New("one \x1b[31m"), errors.New("two postgres://u:CANARY@h")))
	if got := err.String(); got != "postbag: one ·[31m\npostbag: two postgres://***@h\n" {
		t.Errorf("the errors are shown as %q", got)
	}
}

func TestConfirmTakesOnlyYes(t *testing.T) {
	t.Parallel()
	for in, yes := range map[string]bool{"y\n": true, "YES\n": true, "yes": true, "n\n": false, "\n": false, "": false, "yo\n": false} {
		var err bytes.Buffer
		got := (&Terminal{In: strings.NewReader(in), Err: &err}).Confirm("delete?")
		if (got == nil) != yes || !strings.HasPrefix(err.String(), "delete? [y/N] ") {
			t.Errorf("%q is answered with %v after %q", in, got, err.String())
		}
		if got != nil && exit.Of(got) != exit.Usage {
			t.Errorf("%q ends with code %d", in, exit.Of(got))
		}
	}
}

func TestProgressRedrawsOneLineOnATerminal(t *testing.T) {
	t.Parallel()
	var err bytes.Buffer
	p := (&Terminal{Err: &err}).Progress("queued", 200)
	p.live, p.next = true, time.Time{}
	p.Add(100)
	p.End()
	p.End()
	got := err.String()
	if !strings.HasPrefix(got, "\r\x1b[2K███████████████···············  queued 100 of 200") || strings.Count(got, "\x1b[2K") != 2 || strings.Contains(got, "\n") {
		t.Errorf("the progress is %q", got)
	}
}

func TestProgressPrintsALineNowAndThenWithoutATerminal(t *testing.T) {
	t.Parallel()
	var err bytes.Buffer
	p := (&Terminal{Err: &err}).Progress("published", 0)
	p.Add(1)
	if err.Len() > 0 {
		t.Errorf("it speaks at once: %q", err.String())
	}
	p.next = time.Time{}
	p.Add(1)
	p.Add(1)
	p.End()
	if got := err.String(); !strings.HasPrefix(got, "published 2, ") || strings.Count(got, "\n") != 1 || strings.Contains(got, "\x1b") {
		t.Errorf("the progress is %q", got)
	}
}
