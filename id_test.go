package postbag

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// rfcExample is the version 7 UUID of RFC 9562, appendix A.6, drawn at
// 2022-02-22 19:22:22 UTC.
const rfcExample = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"

func mustParse(tb testing.TB, s string) ID {
	tb.Helper()
	id, err := ParseID(s)
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

func TestParseIDTakesEveryUsualForm(t *testing.T) {
	t.Parallel()
	want := ID{0x01, 0x7f, 0x22, 0xe2, 0x79, 0xb0, 0x7c, 0xc3, 0x98, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f}
	for _, s := range []string{
		rfcExample,
		strings.ToUpper(rfcExample),
		strings.ReplaceAll(rfcExample, "-", ""),
		strings.ToUpper(strings.ReplaceAll(rfcExample, "-", "")),
	} {
		got, err := ParseID(s)
		if err != nil || got != want {
			t.Errorf("ParseID(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	if got := want.String(); got != rfcExample {
		t.Errorf("String() = %q, want %q", got, rfcExample)
	}
}

func TestParseIDSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", "it has 0 characters"},
		{"one short", rfcExample[1:], "it has 35 characters"},
		{"one long", rfcExample + "0", "it has 37 characters"},
		{"braces", "{" + rfcExample + "}", "it has 38 characters"},
		{"URN", "urn:uuid:" + rfcExample, "it has 45 characters"},
		{"a space behind", rfcExample[:35] + " ", "character 36 is not a hexadecimal digit"},
		{"a letter too far", "g" + rfcExample[1:], "character 1 is not a hexadecimal digit"},
		{"a hyphen for a digit", "-" + rfcExample[1:], "character 1 is not a hexadecimal digit"},
		{"a digit for a hyphen", rfcExample[:8] + "0" + rfcExample[9:], "character 9 is not a hyphen"},
		{"32 with hyphens", rfcExample[:32], "character 9 is not a hexadecimal digit"},
		{"NUL", "\x00" + rfcExample[1:], "character 1 is not a hexadecimal digit"},
		{"not ASCII", "é" + rfcExample[2:], "character 1 is not a hexadecimal digit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			id, err := ParseID(tc.in)
			if err == nil {
				t.Fatalf("ParseID(%q) = %v, want an error", tc.in, id)
			}
			if !id.IsZero() {
				t.Errorf("ParseID(%q) = %v beside its error, want the zero ID", tc.in, id)
			}
			for _, want := range []string{"postbag: parse id: ", tc.want, "; write it as "} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestIDTimeIsThatOfVersionSevenOnly(t *testing.T) {
	t.Parallel()
	want := time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC)
	if got := mustParse(t, rfcExample).Time(); got != want {
		t.Errorf("Time() of version 7 = %v, want %v", got, want)
	}
	for _, other := range []string{
		"919108f7-52d1-4320-9bac-f847db4148a8", // version 4
		"017f22e2-79b0-7cc3-18c4-dc0c0c07398f", // 7, but another variant
		"00000000-0000-0000-0000-000000000000",
	} {
		if got := mustParse(t, other).Time(); !got.IsZero() {
			t.Errorf("Time() of %s = %v, want the zero time", other, got)
		}
	}
}

func TestIDGoesThroughJSONAsTextAndAsMapKey(t *testing.T) {
	t.Parallel()
	type doc struct {
		ID   ID
		Seen map[ID]bool
	}
	id := mustParse(t, rfcExample)
	data, err := json.Marshal(doc{ID: id, Seen: map[ID]bool{id: true}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"ID":"` + rfcExample + `","Seen":{"` + rfcExample + `":true}}`; string(data) != want {
		t.Fatalf("JSON is %s, want %s", data, want)
	}
	var back doc
	if err := json.Unmarshal(data, &back); err != nil || back.ID != id || !back.Seen[id] {
		t.Errorf("read back as %+v, %v", back, err)
	}
}

func TestUnmarshalTextLeavesTheIDAloneAfterAnError(t *testing.T) {
	t.Parallel()
	id := mustParse(t, rfcExample)
	err := id.UnmarshalText([]byte("0" + strings.Repeat("z", 31)))
	if err == nil || !strings.Contains(err.Error(), "unmarshal id: character 2") {
		t.Errorf("UnmarshalText returned %v", err)
	}
	if id.String() != rfcExample {
		t.Errorf("id became %v", id)
	}
}

func TestAppendTextAppends(t *testing.T) {
	t.Parallel()
	got, err := mustParse(t, rfcExample).AppendText([]byte("id="))
	if err != nil || string(got) != "id="+rfcExample {
		t.Errorf("AppendText = %q, %v", got, err)
	}
}

func TestIsZero(t *testing.T) {
	t.Parallel()
	if !(ID{}).IsZero() || (ID{15: 1}).IsZero() || NewID().IsZero() {
		t.Error("IsZero must be true of the zero ID alone")
	}
}

// FuzzParseID holds that ParseID never panics, that whatever it takes comes out
// of String in the one usual form, and that UnmarshalText agrees with it.
func FuzzParseID(f *testing.F) {
	for _, s := range []string{"", rfcExample, strings.ToUpper(rfcExample), rfcExample[:35], strings.Repeat("f", 32), strings.Repeat("-", 36), "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		var text ID
		if textErr := text.UnmarshalText([]byte(s)); (textErr == nil) != (err == nil) || text != id {
			t.Fatalf("UnmarshalText(%q) = %v, %v; ParseID = %v, %v", s, text, textErr, id, err)
		}
		if err != nil {
			return
		}
		usual := id.String()
		if strings.ReplaceAll(usual, "-", "") != strings.ToLower(strings.ReplaceAll(s, "-", "")) {
			t.Fatalf("ParseID(%q).String() = %q", s, usual)
		}
		if again, err := ParseID(usual); err != nil || again != id {
			t.Fatalf("ParseID(%q) = %v, %v, want %v", usual, again, err, id)
		}
	})
}

func BenchmarkIDString(b *testing.B) {
	id := NewID()
	b.ReportAllocs()
	for b.Loop() {
		_ = id.String()
	}
}

func BenchmarkParseID(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseID(rfcExample); err != nil {
			b.Fatal(err)
		}
	}
}
