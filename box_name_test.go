package postbag

import (
	"regexp"
	"strings"
	"testing"
)

func TestValidBoxTakes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"outbox", "inbox", "a", "z9", "order_events", "orders", "x_", "users", "tables", "postal",
		"pgbox", "b0_1_2", strings.Repeat("a", 40),
	} {
		if err := ValidBox(name); err != nil {
			t.Errorf("ValidBox(%q) = %v", name, err)
		}
	}
}

func TestValidBoxRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, says string }{
		{"", "is empty"},
		{strings.Repeat("a", 41), "has 41 bytes"},
		{strings.Repeat("é", 30), "has 60 bytes"},
		{"Outbox", "a character"},
		{"outBox", "a character"},
		{"1box", "a character"},
		{"_box", "a character"},
		{"my-box", "a character"},
		{"my.box", "a character"},
		{"my box", "a character"},
		{`a"b`, "a character"},
		{"box;drop", "a character"},
		{"böx", "a character"},
		{"box\x00", "a character"},
		{"box\n", "a character"},
		{"order", "reserved"},
		{"user", "reserved"},
		{"add", "reserved"},
		{"xor", "reserved"},
		{"select", "reserved"},
		{"groups", "reserved"},
		{"shard", "reserved"},
		{"attempt", "reserved"},
		{"versions", "reserved"},
		{"subscriptions", "reserved"},
		{"postbag", "reserved"},
		{"postbag_mine", "reserved"},
		{"pg_box", "reserved"},
		{"sqlite_box", "reserved"},
		{"a__b", "reserved"},
		{"outbox__", "reserved"},
	} {
		err := ValidBox(tc.name)
		if err == nil {
			t.Errorf("ValidBox(%q) is nil, want an error", tc.name)
			continue
		}
		if s := err.Error(); !strings.HasPrefix(s, "postbag: box name ") || !strings.Contains(s, tc.says) || !strings.Contains(s, "; ") {
			t.Errorf("ValidBox(%q) = %q, want it to say %q and a fix", tc.name, s, tc.says)
		}
	}
}

func TestReservedWordsAreOtherwiseValidBoxNames(t *testing.T) {
	t.Parallel()
	for _, list := range []string{sqlWords, ownTables} {
		for word := range strings.FieldsSeq(list) {
			if !onlyNameBytes(word, "_") {
				t.Errorf("reserved word %q can be no box's name anyway", word)
			}
			if ValidBox(word) == nil {
				t.Errorf("reserved word %q is taken", word)
			}
		}
	}
}

func TestValidSubscription(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "1", "a.b-c_d", "kafka-eu.west_1", "9-", strings.Repeat("s", 63)} {
		if err := ValidSubscription(name); err != nil {
			t.Errorf("ValidSubscription(%q) = %v", name, err)
		}
	}
	for _, tc := range []struct{ name, says string }{
		{"", "is empty"},
		{strings.Repeat("s", 64), "has 64 bytes"},
		{"Default", "a character"},
		{"-a", "a character"},
		{".a", "a character"},
		{"_a", "a character"},
		{"@maintenance", "a character"},
		{"a/b", "a character"},
		{"a b", "a character"},
		{"a\x00", "a character"},
		{"ä", "a character"},
	} {
		err := ValidSubscription(tc.name)
		if err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "; use ") {
			t.Errorf("ValidSubscription(%q) = %v, want it to say %q and a fix", tc.name, err, tc.says)
		}
	}
}

// FuzzNames holds both rules to the regular expressions they are written as, and
// their errors to printable text.
func FuzzNames(f *testing.F) {
	box := regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	subscription := regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,62}$`)
	for _, s := range []string{"outbox", "a__b", "order", "", "é", "a\n", strings.Repeat("a", 64), "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		boxErr, subErr := ValidBox(s), ValidSubscription(s)
		if want := box.MatchString(s) && !reservedBox(s); (boxErr == nil) != want {
			t.Errorf("ValidBox(%q) = %v", s, boxErr)
		}
		if want := subscription.MatchString(s); (subErr == nil) != want {
			t.Errorf("ValidSubscription(%q) = %v", s, subErr)
		}
		for _, err := range []error{boxErr, subErr} {
			if err != nil && strings.ContainsAny(err.Error(), "\x00\n\r\x1b") {
				t.Errorf("error %q holds control characters", err)
			}
		}
	})
}
