package broker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

func TestEscapeEncodesWhatIsNotVisibleASCII(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, extra, want string }{
		{"", "", ""},
		{"plain-text_09.~!", "", "plain-text_09.~!"},
		{"a b", "", "a%20b"},
		{"100%", "", "100%25"},
		{"%41", "", "%2541"},
		{"\r\n\t\x00\x1f\x7f", "", "%0D%0A%09%00%1F%7F"},
		{"grün", "", "gr%C3%BCn"},
		{"\xff", "", "%FF"},
		{"a:b,c", ":", "a%3Ab,c"},
		{"a:b,c", ":,", "a%3Ab%2Cc"},
	} {
		if got := broker.Escape(c.text, c.extra); got != c.want {
			t.Errorf("Escape(%q, %q) is %q, want %q", c.text, c.extra, got, c.want)
		}
		if got := broker.Unescape(c.want); got != c.text {
			t.Errorf("Unescape(%q) is %q, want %q", c.want, got, c.text)
		}
	}
}

func TestUnescapeLeavesWhatIsNotEncoded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"%": "%", "%4": "%4", "%zz": "%zz", "%4g": "%4g", "a%": "a%", "%%41": "%A", "%c3%bc": "ü", "%2541": "%41", "+": "+",
	} {
		if got := broker.Unescape(text); got != want {
			t.Errorf("Unescape(%q) is %q, want %q", text, got, want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "plain", "%41", "ü\x00\xff", "a:b", strings.Repeat("%", 9)} {
		f.Add(s, ":=")
	}
	f.Fuzz(func(t *testing.T, text, extra string) {
		escaped := broker.Escape(text, extra)
		if strings.ContainsAny(extra, "%0123456789ABCDEF") {
			return // an encoding of its own digits nobody could undo
		}
		for _, c := range []byte(escaped) {
			if c <= ' ' || c >= 0x7f || strings.IndexByte(extra, c) >= 0 {
				t.Fatalf("Escape(%q, %q) is %q, which holds %q", text, extra, escaped, c)
			}
		}
		if back := broker.Unescape(escaped); back != text {
			t.Errorf("%q comes back as %q", text, back)
		}
	})
}

func FuzzUnescape(f *testing.F) {
	for _, s := range []string{"%", "%4", "%41", "%%%", "a%zzb%20"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain := broker.Unescape(text)
		if len(plain) > len(text) {
			t.Errorf("%q grows to %q", text, plain)
		}
		if back := broker.Unescape(broker.Escape(plain, "")); back != plain {
			t.Errorf("%q, once plain, comes back as %q", plain, back)
		}
	})
}

func TestTimesAreWrittenInUTCToTheMicrosecond(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 14, 1, 2, 3, 456_789_999, time.FixedZone("", 2*3600))
	text := broker.FormatTime(at)
	if text != "2026-03-13T23:02:03.456789Z" {
		t.Errorf("written as %q", text)
	}
	back, err := time.Parse(broker.TimeFormat, text)
	if err != nil || !back.Equal(at.Truncate(time.Microsecond)) {
		t.Errorf("read back as %v, %v", back, err)
	}
}

func BenchmarkEscape(b *testing.B) {
	for name, text := range map[string]string{"nothing to do": "customer-0198a1b2c3d4", "some": "größe 42"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				broker.Escape(text, "")
			}
		})
	}
}
