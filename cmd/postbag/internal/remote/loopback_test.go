package remote

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestATokenForThisMachineGoesThroughNoProxy(t *testing.T) {
	t.Parallel()
	s := consoleThat(t, func(w http.ResponseWriter, _ *http.Request) { says(w, http.StatusOK, `{"messages":[]}`) })
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "LOCALHOST", "127.0.0.1"} {
		if err := ask(t, Options{URL: "http://" + name + ":" + port, Token: token}); err != nil {
			t.Errorf("asked as %s it says %v", name, err)
		}
	}
}

func TestANameOfThisMachineThatLeadsElsewhereGetsNoToken(t *testing.T) {
	t.Parallel()
	s := consoleThat(t, http.NotFound)
	c, err := Open(t.Context(), Options{URL: s.URL, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.base.Host = "192.0.2.1:80" // as if localhost had this address
	wants(t, c.get(t.Context(), nil, nil, "about"), exit.Usage, "is no loopback address on this machine")
}
