package testserver_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// echo serves every connection by sending back what comes, and hands out what it has read so far.
type echo struct {
	addr string
	mu   sync.Mutex
	read bytes.Buffer
}

func startEcho(t *testing.T) *echo {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{addr: listener.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { e.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	return e
}

func (e *echo) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		e.mu.Lock()
		e.read.Write(buffer[:n])
		e.mu.Unlock()
		if _, failed := conn.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

func (e *echo) has(text string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Contains(e.read.String(), text)
}

// dialProxy connects to a proxy in front of an echo, and sees that it answers.
func dialProxy(t *testing.T, p *testserver.Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	say(t, conn, "hello")
	hear(t, conn, "hello")
	return conn
}

func say(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(conn, got); err != nil || string(got) != want {
		t.Fatalf("heard %q, %v, want %q", got[:n], err, want)
	}
}

// silent fails if something is heard within a while. Silence can only be listened to.
func silent(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(make([]byte, 1))
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Fatalf("read %d bytes, %v, want silence", n, err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
}

func TestProxyCarriesEveryByteAndTheEndBothWays(t *testing.T) {
	t.Parallel()
	p := servertest.Proxy(t, startEcho(t).addr)
	conn := dialProxy(t, p)
	sent := make([]byte, 8<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(sent)
	go func() {
		_, _ = conn.Write(sent)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
	}()
	got, err := io.ReadAll(conn)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d of %d bytes came back, %v; equal: %t", len(got), len(sent), err, bytes.Equal(got, sent))
	}
	await(t, "the end of the connection", func() bool { return p.Connections() == 0 })
}

func TestProxyConnectsNewConnectionsToAnotherServer(t *testing.T) {
	t.Parallel()
	first, second := startEcho(t), startEcho(t)
	p := servertest.Proxy(t, first.addr)
	old := dialProxy(t, p)
	p.Lead(second.addr)
	say(t, old, "to the first")
	hear(t, old, "to the first")
	fresh := dialProxy(t, p)
	say(t, fresh, "to the second")
	hear(t, fresh, "to the second")
	if !first.has("to the first") || first.has("to the second") || !second.has("to the second") {
		t.Error("open connections go to the first server and new ones to the second, and they did not")
	}
}

func TestProxyCutEndsOpenConnectionsOnly(t *testing.T) {
	t.Parallel()
	p := servertest.Proxy(t, startEcho(t).addr)
	conn := dialProxy(t, p)
	p.Cut()
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a cut connection ended with %v, want a reset", err)
	}
	dialProxy(t, p)
}

func TestProxyHangUpClosesConnectionsCleanly(t *testing.T) {
	t.Parallel()
	p := servertest.Proxy(t, startEcho(t).addr)
	conn := dialProxy(t, p)
	p.HangUp()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a connection that was hung up ended with %v, want its end", err)
	}
	if n := p.Connections(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
	dialProxy(t, p)
}

func TestProxyRefusesUntilResumed(t *testing.T) {
	t.Parallel()
	p := servertest.Proxy(t, startEcho(t).addr)
	old := dialProxy(t, p)
	if err := p.Refuse(); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", p.Addr()); err == nil {
		_ = conn.Close()
		t.Error("a new connection was taken")
	}
	say(t, old, "still")
	hear(t, old, "still")
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	dialProxy(t, p)
}

func TestProxyBlackHoleHoldsOneDirectionUntilResumed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		way     testserver.Direction
		arrives bool
	}{
		{"on the way up the server hears nothing", testserver.Up, false},
		{"on the way down the server hears and the client does not", testserver.Down, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := startEcho(t)
			p := servertest.Proxy(t, server.addr)
			conn := dialProxy(t, p)
			p.BlackHole(c.way)
			say(t, conn, "into the dark")
			if c.arrives {
				await(t, "the words at the server", func() bool { return server.has("into the dark") })
			}
			silent(t, conn)
			if server.has("into the dark") != c.arrives {
				t.Errorf("the server has heard it: %t, want %t", !c.arrives, c.arrives)
			}
			if err := p.Resume(); err != nil {
				t.Fatal(err)
			}
			hear(t, conn, "into the dark")
		})
	}
}

func TestProxyBlackHoleHidesTheEndOfAConnection(t *testing.T) {
	t.Parallel()
	p := servertest.Proxy(t, startEcho(t).addr)
	conn := dialProxy(t, p)
	p.BlackHole(testserver.Up)
	p.BlackHole(testserver.Down)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatalf("a black hole refused a connection: %v", err)
	}
	t.Cleanup(func() { _ = other.Close() })
	say(t, other, "anybody?")
	silent(t, other)
	if got := p.Connections(); got != 2 {
		t.Errorf("%d connections are open, want 2: the server must not know that one has ended", got)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	hear(t, other, "anybody?")
	await(t, "the end of the first connection", func() bool { return p.Connections() == 1 })
}

func TestProxyDelaysWithoutSlowingTheFlow(t *testing.T) {
	t.Parallel()
	p := servertest.Proxy(t, startEcho(t).addr)
	conn := dialProxy(t, p)
	const delay = 100 * time.Millisecond
	p.Delay(testserver.Down, delay)
	began := time.Now()
	go func() {
		for range 20 {
			_, _ = io.WriteString(conn, strings.Repeat("x", 4096))
		}
	}()
	hear(t, conn, "x")
	if first := time.Since(began); first < delay {
		t.Errorf("the first byte came after %v, want %v at least", first, delay)
	}
	hear(t, conn, strings.Repeat("x", 20*4096-1))
	if all := time.Since(began); all > 15*delay {
		t.Errorf("all bytes came after %v: each piece waited for the one before", all)
	}
	p.Delay(testserver.Down, time.Hour)
	say(t, conn, "late")
	silent(t, conn)
	p.Delay(testserver.Down, 0)
	hear(t, conn, "late")
}

func TestProxyTrapCutsAfterTheBytesWentUpAndBeforeAnyAnswer(t *testing.T) {
	t.Parallel()
	server := startEcho(t)
	p := servertest.Proxy(t, server.addr)
	trap := testserver.NewTrap("COMMIT", testserver.CutAfter)
	p.Watch(testserver.Up, trap.Watch)
	bystander := dialProxy(t, p)
	conn := dialProxy(t, p)
	say(t, conn, "BEGIN")
	hear(t, conn, "BEGIN")
	say(t, conn, "COM") // the pattern comes in two pieces
	hear(t, conn, "COM")
	say(t, conn, "MIT")
	<-trap.Sprung()
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes of the answer came through", n)
	}
	await(t, "the words at the server", func() bool { return server.has("COMMIT") })
	say(t, bystander, "COMMIT") // once only
	hear(t, bystander, "COMMIT")
}

func TestProxyTrapCutsBeforeTheBytesArrive(t *testing.T) {
	t.Parallel()
	server := startEcho(t)
	p := servertest.Proxy(t, server.addr)
	up := testserver.NewTrap("never", testserver.CutBefore)
	p.Watch(testserver.Up, up.Watch)
	conn := dialProxy(t, p)
	say(t, conn, "never")
	<-up.Sprung()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("there was an answer")
	}
	p.Watch(testserver.Up, nil)
	down := testserver.NewTrap("done", testserver.CutBefore)
	p.Watch(testserver.Down, down.Watch)
	conn = dialProxy(t, p)
	say(t, conn, "done")
	<-down.Sprung()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the answer came through")
	}
	if server.has("never") || !server.has("done") {
		t.Errorf("the server has heard never: %t, done: %t, want only the second", server.has("never"), server.has("done"))
	}
}

func TestProxyWithoutAServerResetsConnections(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	p := servertest.Proxy(t, listener.Addr().String())
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		return // the reset came at once
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the connection ended with %v, want a reset", err)
	}
}

func TestProxyClosedLeavesNothingRunning(t *testing.T) { //nolint:paralleltest // it counts the goroutines of the process
	server := startEcho(t)
	before := runtime.NumGoroutine()
	p, err := testserver.StartProxy(server.addr)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		dialProxy(t, p)
	}
	p.BlackHole(testserver.Up)
	p.BlackHole(testserver.Down)
	if err := errors.Join(p.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	if got := p.Connections(); got != 0 {
		t.Errorf("%d connections are left", got)
	}
	await(t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= before })
	if err := p.Resume(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", p.Addr()); err == nil {
		t.Error("a closed proxy listens again")
	}
}
