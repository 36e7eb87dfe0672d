package httpfield_test

import (
	"testing"

	"github.com/postbag/postbag/internal/httpfield"
)

func TestFieldNamesAndValuesAreToldApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ token, framing, steering bool }{
		"X-Own": {token: true}, "%41bc": {token: true}, "": {}, "a b": {}, "a:b": {}, "ü": {},
		"Transfer-ENCODING": {token: true, framing: true}, "Proxy-X": {token: true, framing: true},
		"Authorization": {token: true, steering: true}, "content-language": {token: true, steering: true}, "Accept": {token: true, steering: true},
	} {
		if httpfield.IsToken(name) != c.token || httpfield.Framing(name) != c.framing || httpfield.Steering(name) != c.steering {
			t.Errorf("%q: token %v, framing %v, steering %v; want %+v", name, httpfield.IsToken(name), httpfield.Framing(name), httpfield.Steering(name), c)
		}
	}
	for value, want := range map[string]bool{"a b": true, "": false, " a": false, "a ": false, "a\tb": false, "ü": false, "a\x7f": false} {
		if httpfield.Verbatim(value) != want {
			t.Errorf("%q: verbatim is not %v", value, want)
		}
	}
	if !httpfield.In("ABC", "x", "abc") || httpfield.In("abcd", "abc") || !httpfield.HasPrefix("X-Ab", "y-", "x-") || httpfield.HasPrefix("x", "x-") {
		t.Error("names are not compared without regard to case")
	}
}
