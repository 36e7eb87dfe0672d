package main

import (
	"io"
	"net"
	"strings"
	"testing"
)

// An endpoint that answers and then sends back what it got: net/http prints that with the standard logger. Not in parallel, since
// that logger is the process's.
func TestWhatAnEndpointSendsBackIsNotLogged(t *testing.T) { //nolint:paralleltest // see above
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go sendBack(conn)
		}
	}()
	at := emptyFile(t)
	config := hookConfig(t, at, "http://"+listener.Addr().String())
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	r := start(t, "relay", "-c", config)
	cli(t, "publish", at.flag, at.where, "--key", canary, "--payload", canary).ok()
	await(t, "the library's line is in the log", func() bool { return strings.Contains(r.err.String(), "a library says something") })
	if log := r.err.String(); !strings.Contains(log, "Unsolicited response") || strings.Contains(log, "POST /") {
		t.Errorf("the log is %s", log)
	}
}

// sendBack accepts what comes, and then sends it back.
func sendBack(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	all := make([]byte, 1<<16)
	n, err := conn.Read(all)
	if err != nil || n == 0 {
		return
	}
	answer := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	_, _ = io.WriteString(conn, answer+string(all[:n]))
	_, _ = io.Copy(io.Discard, conn)
}
