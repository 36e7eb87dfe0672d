package console

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/postbag/postbag/store/memstore"
)

// What a beat says of a page is made, and kept, once for all users who see the same.
func TestUsersWithTheSameRightsShareWhatABeatSays(t *testing.T) {
	t.Parallel()
	m := memstore.New(memstore.Options{})
	if err := m.CreateBox(t.Context(), "outbox"); err != nil {
		t.Fatal(err)
	}
	h, err := New(Options{Databases: []Database{{Name: "shop", Store: m}}, Stranger: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }})
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string, grants ...string) *User {
		u := userWith(t, grants...)
		u.Name, u.Session = name, true
		return u
	}
	for _, page := range []string{"/", "/databases/shop/boxes/outbox", "/api/v1/overview"} {
		frame := func(u *User) *frame {
			f, _ := (&stream{c: h.c, of: page, user: u, running: t.Context()}).next()
			return f
		}
		ann := frame(named("ann-of-sales", "viewer"))
		if frame(named("bob", "viewer")) != ann {
			t.Errorf("%s is made once more for another user with the same rights", page)
		}
		if frame(named("bob", "viewer", "operator")) == ann {
			t.Errorf("%s is the same for an operator as for a viewer", page)
		}
		if bytes.Contains(ann.event, []byte("ann-of-sales")) || !bytes.HasPrefix(ann.event, []byte("event: state")) {
			t.Errorf("of %s all users see\n%s", page, ann.event)
		}
	}
	w := asks(h, named("ann-of-sales", "viewer"), http.MethodGet, "/")
	if !bytes.Contains(w.Body.Bytes(), []byte("ann-of-sales")) {
		t.Errorf("a page that is loaded names nobody: %s", w.Body)
	}
}
