package inbox_test

import (
	"crypto/sha256"
	"math"
	"strings"
	"testing"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
	"github.com/postbag/postbag/store"
)

func TestAUUIDIsItsSixteenBytes(t *testing.T) {
	t.Parallel()
	id := postbag.ID{0x01, 0x90, 0, 0xff, 15: 7}
	if got := inbox.UUID(id); string(got) != string(id[:]) {
		t.Errorf("the id is %q, want %q", got, id[:])
	}
}

func TestTwoPlacesNeverHaveOneID(t *testing.T) {
	t.Parallel()
	sources := []string{
		"", "a", "b", "ab", "a\x00", "\x00a", "A", "xx", "\x00\x00\x00\x01", "orders", "orders\x00\x00\x00\x00",
		strings.Repeat("s", 236), strings.Repeat("s", 237), strings.Repeat("s", 238), strings.Repeat("s", 239), strings.Repeat("s", 10_000),
	}
	hash := sha256.Sum256([]byte(strings.Repeat("s", 238)))
	sources = append(sources, string(hash[:]))
	seen := map[inbox.MessageID]bool{}
	for _, source := range sources {
		for _, partition := range []int32{0, 1, 256, -1, math.MaxInt32, math.MinInt32} {
			for _, offset := range []int64{0, 1, 256, -1, 1 << 32, math.MaxInt64, math.MinInt64} {
				id := inbox.Place(source, partition, offset)
				switch {
				case seen[id]:
					t.Errorf("source %.20q, partition %d, offset %d has the id of another place", source, partition, offset)
				case id[0] != 0:
					t.Errorf("the id %q begins like text", id)
				case len(id) <= len(postbag.ID{}) || len(id) > store.MaxMessageID:
					t.Errorf("the id of a source of %d bytes has %d bytes", len(source), len(id))
				}
				seen[id] = true
			}
		}
	}
}

func TestAPlaceIsTheSameInEveryVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want inbox.MessageID }{
		{inbox.Place("orders", 3, 258), "\x00place\x00\x00\x00\x00\x00\x00\x01\x02" + zeros + "\x06orders3"},
		{inbox.Place("", -1, -2), "\x00place\xff\xff\xff\xff\xff\xff\xff\xfe" + zeros + "\x00-1"},
	} {
		if c.got != c.want {
			t.Errorf("the id is %q, want %q: marks of older versions would be fresh again", c.got, c.want)
		}
	}
	long := strings.Repeat("s", 250)
	hash := sha256.Sum256([]byte("\xfa\x01" + long + "0"))
	if got := inbox.Place(long, 0, 0); got != inbox.MessageID("\x00phash"+zeros+zeros+string(hash[:])) {
		t.Errorf("the id of a long name is %q", got)
	}
}

func TestAPlaceOfASourceHasTheIDThatItsPartsHave(t *testing.T) {
	t.Parallel()
	p := source.Place{Source: "orders", Partition: "7", Offset: 12}
	if got, want := inbox.MessageID(p.ID()), inbox.Place("orders", 7, 12); got != want {
		t.Errorf("a receiver marks %q, and a consumer of one's own %q", got, want)
	}
	if id, rule, err := sourcekit.DefaultIDs().Of(&source.Message{Place: p}); err != nil || rule != "place" || id != p.ID() {
		t.Errorf("the id of a message without one is %q of the rule %q: %v", id, rule, err)
	}
}

const zeros = "\x00\x00\x00\x00\x00\x00\x00\x00"

func TestASumTellsItsPartsApart(t *testing.T) {
	t.Parallel()
	if got := inbox.Sum([]byte("body")); got != sha256.Sum256([]byte("body")) {
		t.Errorf("the sum of one part is %x, not its SHA-256", got)
	}
	if got := inbox.Sum(); got != (store.Sum{}) {
		t.Errorf("the sum of nothing is %x, not zero", got)
	}
	seen := map[store.Sum]int{}
	for i, parts := range [][]string{{""}, {"", ""}, {"ab"}, {"a", "b"}, {"ab", ""}, {"", "ab"}, {"b", "a"}, {"a", "", "b"}} {
		var body [][]byte
		for _, p := range parts {
			body = append(body, []byte(p))
		}
		sum := inbox.Sum(body...)
		if other, taken := seen[sum]; taken {
			t.Errorf("parts %d and %d have one sum", i, other)
		}
		seen[sum] = i
	}
}
