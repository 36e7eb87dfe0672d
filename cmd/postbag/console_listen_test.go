package main

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/admin"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

// A name is trusted for the address that it leads to, and for nothing else: who writes the machine's tables of hosts, or the answers of
// its resolver, says where localhost is.
func TestTheConsoleIsServedWhereTheNameLeadsOnlyIfThatIsLoopback(t *testing.T) {
	t.Parallel()
	elsewhere, here := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9090}, &net.TCPAddr{IP: net.IPv6loopback, Port: 9090}
	open := &config.File{Admin: config.Admin{Listen: "localhost:9090", Console: true}}
	login := &config.File{Admin: open.Admin, Console: config.Console{Access: "access"}}
	for file, says := range map[*config.File]string{open: "would be open to other machines", login: "passwords go over the network"} {
		if _, mistake := file.AdminConsoleMistake(); mistake != "" {
			t.Errorf("before it is known where localhost leads: %s", mistake)
		}
		err := consoleMayBeAt(file)(elsewhere)
		if err == nil || exit.Of(err) != exit.Usage || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "192.0.2.1:9090") {
			t.Errorf("where localhost leads elsewhere: %v", err)
		}
		if err := consoleMayBeAt(file)(here); err != nil {
			t.Errorf("where localhost leads to %s: %v", here, err)
		}
	}
	if err := consoleMayBeAt(&config.File{})(elsewhere); err != nil {
		t.Errorf("without a console: %v", err)
	}
	withLogin := &consoleFlags{settings: config.Console{Access: "access"}}
	if err := withLogin.mayBeAt(elsewhere.String()); err == nil {
		t.Error("postbag console takes passwords in the open where its name leads elsewhere")
	}
}

func TestTheAdminListenerServesNothingWhereItMustNotBe(t *testing.T) {
	t.Parallel()
	wrong := errors.New("not here")
	var bound net.Addr
	a, err := admin.Start("127.0.0.1:0", func(at net.Addr) error { bound = at; return wrong }, nil, nil, nil)
	if a != nil || !errors.Is(err, wrong) {
		t.Fatalf("it starts: %v", err)
	}
	listener, err := net.Listen("tcp", bound.String())
	if err != nil {
		t.Fatalf("the listener is there yet: %v", err)
	}
	_ = listener.Close()
}
