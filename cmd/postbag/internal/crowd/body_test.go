package crowd

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// unread is a request whose body does not come.
const unread = "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"

func TestWhoSendsNoBodyToWhoReadsNoneLosesThePlaceToTheNext(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"no answer": 0, "a small answer": 10, "an answer that is sent before its end": 64 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			came := make(chan struct{}, 9)
			at, c := serve(t, Bound{All: 10, Idle: 3}, func(w http.ResponseWriter, _ *http.Request) {
				came <- struct{}{}
				_, _ = io.WriteString(w, strings.Repeat("x", size))
			})
			var all []net.Conn
			for i := range 8 {
				all = append(all, dial(t, at, unread))
				<-came
				comes(t, c, min(i+1, 3), min(i+1, 3))
			}
			if is := answered(t, dial(t, at, whole)); is != good {
				t.Errorf("the one with a whole request gets %q", is)
			}
			if _, err := io.WriteString(all[7], "abcdefghi"); err != nil {
				t.Fatal(err)
			}
			if is := answered(t, all[7]); is != good {
				t.Errorf("the latest, which sends the body, gets %q", is)
			}
		})
	}
}

// clogged is a listener whose connections send nothing until the test lets them.
type clogged struct {
	net.Listener

	sends chan struct{} // something is to be sent
	goOn  chan struct{}
}

func (l *clogged) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &cloggedConn{conn, l}, err
}

type cloggedConn struct {
	net.Conn

	of *clogged
}

func (c *cloggedConn) Write(p []byte) (int, error) {
	c.of.sends <- struct{}{}
	<-c.of.goOn
	return c.Conn.Write(p)
}

func TestAnAnswerToAWholeBodyThatIsOnItsWayIsNotCut(t *testing.T) {
	t.Parallel()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &clogged{Listener: plain, sends: make(chan struct{}, 9), goOn: make(chan struct{})}
	server := &http.Server{Handler: http.HandlerFunc(read), ReadHeaderTimeout: patience}
	c, _ := (Bound{All: 3, Idle: 1}).Listen(server, l).(*crowd)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(c) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), <-ended); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	for _, text := range []string{
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabcdefghi",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabcdefghi\r\n0\r\n\r\n",
	} {
		conn := dial(t, plain.Addr().String(), text)
		<-l.sends
		c.mu.Lock()
		if c.idle.Len() != 0 {
			t.Errorf("while the answer to %q is sent, its connection counts as idle", text)
		}
		c.mu.Unlock()
		l.goOn <- struct{}{}
		if is := answered(t, conn); is != good {
			t.Errorf("the answer to %q is %q", text, is)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		comes(t, c, 0, 0)
	}
}
