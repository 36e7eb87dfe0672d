package storekit

import (
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/store"
)

func TestACommentHasItsKeysSortedAndEachValueEncodedAndQuoted(t *testing.T) {
	t.Parallel()
	c := NewComments(store.SQLComments{Application: "orders & co"})
	want := " /*application='orders%20%26%20co',framework='" + percent(framework()) + "',postbag_role='"
	for role, got := range map[string]string{"relay": c.Relay, "publisher": c.Publisher, "consumer": c.Consumer} {
		if got != want+role+"'*/" {
			t.Errorf("the comment of a %s is %q, want %q", role, got, want+role+"'*/")
		}
	}
}

func TestNoApplicationMakesNoComments(t *testing.T) {
	t.Parallel()
	if c := NewComments(store.SQLComments{}); c != (Comments{}) {
		t.Errorf("the comments are %q", c)
	}
}

func TestNoNameOfAnApplicationEndsTheCommentOrTheQuotation(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"*/ DROP TABLE x; /*", "it's", `a\'b`, "--", ":name ? $1 @x {box} %s", "größe", "/*", `"`, "`", ";", "#"} {
		c := NewComments(store.SQLComments{Application: name}).Relay
		value, _, _ := strings.Cut(strings.TrimPrefix(c, " /*application='"), "'")
		if strings.ContainsAny(value, `*/'\";?:$@{}#`+"` ") {
			t.Errorf("the name %q became %q", name, value)
		}
		if back, err := url.PathUnescape(value); err != nil || back != name {
			t.Errorf("the name %q came back as %q: %v", name, back, err)
		}
		if strings.Count(c, "*/") != 1 || !strings.HasSuffix(c, "*/") {
			t.Errorf("the comment of %q is %q", name, c)
		}
	}
}
