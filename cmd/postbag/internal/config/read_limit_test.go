package config

import (
	"strings"
	"testing"
)

// The parser must end soon whatever a file holds: it recurses, and what it does is
// quadratic in some texts. A hang would fail this test by its time limit.
func TestLargeFilesOfRepeatedTextAreRefusedQuickly(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"a", "a ", "a: ", "a:\n", "- a\n", "-\n", "? ", "?\n", "? a\n", ": ", "&a ", "*a ", "!a ", "# a\n", "\n", "\t", "\"", "'", "|\n", ">\n a\n", "a: |\n",
		"a: b\n", "a: {b: c}\n", "a: [b]\n", "---\n", "...\n", "%a\n", "a,", "[]", "{}", "[a]\n", "{a: b}\n", "\\", "é", "<<: ", " a\n", "a: &a b\nc: *a\n",
		"x-a: *a\n", "\"a\": ", "'a': 'b'\n", "a: \"b\n", "[\n]\n", "a: -\n", "- - a\n", "@", "`",
	} {
		many := MaxSize / len(unit)
		if lines := strings.Count(unit, "\n"); lines > 0 {
			many = min(many, maxLines/lines)
		}
		if _, err := Parse("f.yaml", []byte(strings.Repeat(unit, many)), testKinds()); err == nil {
			t.Errorf("%q, many times: it was taken", unit)
		}
	}
	_, err := Parse("f.yaml", []byte(strings.Repeat("a:\n", maxLines+1)), testKinds())
	if err == nil || !strings.Contains(err.Error(), "more than 4000 lines") {
		t.Errorf("too many lines: the error is %v", err)
	}
}
