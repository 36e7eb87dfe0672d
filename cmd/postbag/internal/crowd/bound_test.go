package crowd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for something to come about.
const patience = 30 * time.Second

// serve serves with a bound until the test ends, and returns the address and what is served.
func serve(t *testing.T, b Bound, h http.HandlerFunc) (address string, c *crowd) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: patience}
	c, _ = b.Listen(server, l).(*crowd)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(c) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		if c.all != 0 || c.idle.Len() != 0 {
			t.Errorf("at the end %d connections are counted, %d of them idle", c.all, c.idle.Len())
		}
	})
	return l.Addr().String(), c
}

// dial begins a connection, and sends a text.
func dial(t *testing.T, address, text string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// comes waits for a state of the connections.
func comes(t *testing.T, c *crowd, all, idle int) {
	t.Helper()
	var is, idles int
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(patience); time.Now().Before(until); <-tick.C {
		c.mu.Lock()
		is, idles = c.all, c.idle.Len()
		c.mu.Unlock()
		if is == all && idles == idle {
			return
		}
	}
	t.Fatalf("there are %d connections, %d of them idle; want %d, and %d", is, idles, all, idle)
}

// answered reads the status of the answer. An empty one: the connection was ended.
func answered(t *testing.T, conn net.Conn) string {
	t.Helper()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("there is no answer")
	}
	return strings.TrimSpace(line)
}

const (
	whole = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	half  = "GET / HTTP/1.1\r\nHost: a\r\nX: "
	slow  = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"
	good  = "HTTP/1.1 200 OK"
)

func read(w http.ResponseWriter, r *http.Request) {
	_, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}

func TestWhoSendsNoWholeRequestLosesThePlaceToTheNext(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"nothing": "", "half of the header": half, "half of the body": slow} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			came := make(chan struct{}, 9)
			at, c := serve(t, Bound{All: 10, Idle: 3}, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadFull(r.Body, make([]byte, 3))
				came <- struct{}{}
				read(w, r)
			})
			var all []net.Conn
			for i := range 8 {
				all = append(all, dial(t, at, text))
				if text == slow {
					<-came // what it sent was read
				}
				comes(t, c, min(i+1, 3), min(i+1, 3))
			}
			if is := answered(t, dial(t, at, whole)); is != good {
				t.Errorf("the one with a whole request gets %q", is)
			}
			for i, conn := range all[:5] {
				if is := answered(t, conn); is == good {
					t.Errorf("connection %d gets %q", i, is)
				}
			}
			if text == slow {
				if _, err := io.WriteString(all[7], "defghi"); err != nil {
					t.Fatal(err)
				}
				if is := answered(t, all[7]); is != good {
					t.Errorf("the latest, which sends the rest, gets %q", is)
				}
			}
		})
	}
}

func TestNoAnswerUnderWayIsEndedForAnotherConnection(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	at, c := serve(t, Bound{All: 4, Idle: 4}, func(http.ResponseWriter, *http.Request) { <-end })
	var busy []net.Conn
	for i := range 4 {
		busy = append(busy, dial(t, at, whole))
		comes(t, c, i+1, 0)
	}
	late := dial(t, at, whole) // the system keeps it until there is room
	if err := late.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("one more than there is room for gets %v", err)
	}
	if err := late.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	comes(t, c, 4, 0)
	close(end)
	for i, conn := range append(busy, late) { // also those that are idle, and ended, as soon as they have their answers
		if is := answered(t, conn); is != good {
			t.Errorf("connection %d gets %q", i, is)
		}
	}
}

func TestAServerThatIsFullCanBeEnded(t *testing.T) {
	t.Parallel()
	at, c := serve(t, Bound{All: 1, Idle: 1}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	dial(t, at, whole)
	comes(t, c, 1, 0)
	dial(t, at, whole)
}

func TestAConnectionThatIsUsedAgainWaitsBetweenItsRequests(t *testing.T) {
	t.Parallel()
	at, c := serve(t, Bound{All: 3, Idle: 2}, read)
	conn := dial(t, at, "")
	for range 3 {
		if _, err := io.WriteString(conn, whole); err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		comes(t, c, 1, 1)
	}
}

func TestTheBoundLeavesAQuarterOfTheDescriptorsToOthers(t *testing.T) {
	t.Parallel()
	b := Default()
	if n, is := descriptors(); is && uint64(b.All) > max(n/4*3, 12) || b.All > most || b.Idle < 1 || b.Streams()+b.Idle != b.All {
		t.Errorf("of %d descriptors the bound is %+v, with %d streams", n, b, b.Streams())
	}
	if full := (Bound{All: most, Idle: most / 6}); full.Streams() != 10_000 {
		t.Errorf("there are %d streams", full.Streams())
	}
}

// A server may give the handler a context without a connection, as tests do.
func TestARequestWithoutAConnectionIsAnswered(t *testing.T) {
	t.Parallel()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "here") }), ReadHeaderTimeout: patience}
	Default().Listen(server, nil)
	w := &recorder{}
	server.Handler.ServeHTTP(w, (&http.Request{}).WithContext(context.Background()))
	if w.text != "here" {
		t.Errorf("it answers %q", w.text)
	}
}

type recorder struct{ text string }

func (*recorder) Header() http.Header { return make(http.Header) }
func (*recorder) WriteHeader(int)     {}

func (w *recorder) Write(p []byte) (int, error) {
	w.text += string(p)
	return len(p), nil
}
