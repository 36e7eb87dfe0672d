package testserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// natsClient speaks just enough of NATS's protocol (docs.nats.io, "Client Protocol") to make requests.
type natsClient struct {
	conn net.Conn
	in   *bufio.Reader
	info string
}

func dialNATS(t *testing.T, n *testserver.NATS) *natsClient {
	t.Helper()
	u, err := url.Parse(n.URL())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	c := &natsClient{conn: conn, in: bufio.NewReader(conn)}
	c.info, _ = c.in.ReadString('\n')
	options := map[string]any{"verbose": false, "headers": true, "no_responders": true}
	if u.User != nil {
		options["user"] = u.User.Username()
		options["pass"], _ = u.User.Password()
	}
	text, _ := json.Marshal(options)
	_, _ = fmt.Fprintf(conn, "CONNECT %s\r\nSUB answers 1\r\nPING\r\n", text)
	return c
}

// pong reads up to the answer to the PING of dialNATS, or the server's complaint.
func (c *natsClient) pong() error {
	line, err := c.in.ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "PONG") {
		err = fmt.Errorf("the server said %q", line)
	}
	return err
}

// request publishes and returns the answer.
func (c *natsClient) request(subject, payload string) (string, error) {
	_, _ = fmt.Fprintf(c.conn, "PUB %s answers %d\r\n%s\r\n", subject, len(payload), payload)
	line, err := c.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	words := strings.Fields(line)
	size, err := strconv.Atoi(words[len(words)-1])
	if err != nil || !strings.HasSuffix(words[0], "MSG") {
		return "", fmt.Errorf("the server said %q", line)
	}
	answer := make([]byte, size+2)
	_, err = io.ReadFull(c.in, answer)
	return string(answer[:size]), err
}

// stored counts the messages of the stream.
func stored(t *testing.T, n *testserver.NATS) int {
	t.Helper()
	c := dialNATS(t, n)
	if err := c.pong(); err != nil {
		t.Fatal(err)
	}
	answer, err := c.request("$JS.API.STREAM.INFO.kept", "")
	if err != nil {
		t.Fatal(err)
	}
	var info struct{ State struct{ Messages int } }
	if err := json.Unmarshal([]byte(answer), &info); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return info.State.Messages
}

func TestNATSKeepsAcknowledgedMessagesAfterStopKillAndPause(t *testing.T) {
	t.Parallel()
	n := servertest.NATS(t, testserver.NATSOptions{})
	c := dialNATS(t, n)
	if err := c.pong(); err != nil {
		t.Fatal(err)
	}
	made, err := c.request("$JS.API.STREAM.CREATE.kept", `{"name":"kept","subjects":["kept.>"],"storage":"file"}`)
	if err != nil || !strings.Contains(made, `"created"`) {
		t.Fatalf("the stream was not made: %v: %s", err, made)
	}
	for i := range 10 {
		answer, err := c.request("kept.x", "payload")
		if want := fmt.Sprintf(`"seq":%d`, i+1); err != nil || !strings.Contains(answer, want) {
			t.Fatalf("not acknowledged: %v: %s", err, answer)
		}
	}
	if err := n.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, n); got != 10 {
		t.Errorf("%d messages after a restart, want 10", got)
	}
	if err := n.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", n.Port())); err == nil {
		t.Error("a killed server answers")
	}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, n); got != 10 {
		t.Errorf("%d messages after a kill, want 10", got)
	}
	if err := n.Start(t.Context()); err == nil {
		t.Error("a running server was started a second time")
	}
}

func TestNATSPausedAnswersNothingUntilResumed(t *testing.T) {
	t.Parallel()
	slow(t)
	n := servertest.NATS(t, testserver.NATSOptions{})
	c := dialNATS(t, n)
	if err := c.pong(); err != nil {
		t.Fatal(err)
	}
	if err := n.Pause(); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := c.request("$JS.API.INFO", "")
		answer <- err
	}()
	select {
	case err := <-answer:
		t.Fatalf("a paused server answered: %v", err)
	case <-time.After(300 * time.Millisecond): // the proof of silence is to listen for a while
	}
	if err := n.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err != nil {
		t.Errorf("after Resume: %v", err)
	}
}

func TestNATSAsksForUserAndPassword(t *testing.T) {
	t.Parallel()
	n := servertest.NATS(t, testserver.NATSOptions{User: "relay", Password: "s3cret/@"})
	if err := dialNATS(t, n).pong(); err != nil {
		t.Errorf("with the password: %v", err)
	}
	stranger, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", n.Port()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Close() })
	in := bufio.NewReader(stranger)
	_, _ = in.ReadString('\n')
	_, _ = io.WriteString(stranger, "CONNECT {}\r\nPING\r\n")
	if line, _ := in.ReadString('\n'); !strings.Contains(line, "Authorization Violation") {
		t.Errorf("without it the server said %q", line)
	}
	if strings.Contains(n.LogTail(100), "s3cret") {
		t.Error("the password is in the log")
	}
}

func TestNATSTakesItsLimits(t *testing.T) {
	t.Parallel()
	slow(t)
	n := servertest.NATS(t, testserver.NATSOptions{
		MaxPayload: 4096, MaxStore: 1 << 20, SyncInterval: time.Second, SyncAlways: true,
	})
	c := dialNATS(t, n)
	if err := c.pong(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(c.info, `"max_payload":4096`) {
		t.Errorf("max_payload is not in %q", c.info)
	}
	answer, err := c.request("$JS.API.STREAM.CREATE.big", `{"name":"big","subjects":["b"],"storage":"file","max_bytes":2097152}`)
	if err != nil || !strings.Contains(answer, "insufficient storage") {
		t.Errorf("a stream beyond MaxStore: %v: %s", err, answer)
	}
}

func TestNATSTakesTheRightToPublishAwayAndGivesItBack(t *testing.T) {
	t.Parallel()
	users := func(deny ...string) []testserver.NATSUser {
		return []testserver.NATSUser{{Name: "one", Password: "pw", Deny: deny}, {Name: "other", Password: "pw"}}
	}
	n := servertest.NATS(t, testserver.NATSOptions{Users: users()})
	is := func(word string) func() bool {
		return func() bool {
			c := dialNATS(t, n)
			if c.pong() != nil {
				return false // while it reads its users it knows nobody
			}
			_, _ = io.WriteString(c.conn, "PUB a.b 1\r\nx\r\nPING\r\n")
			line, err := c.in.ReadString('\n')
			return err == nil && strings.Contains(line, word)
		}
	}
	const allowed, denied = "PONG", "Permissions Violation"
	await(t, "the right to publish", is(allowed))
	if err := n.SetUsers(users("a.>")...); err != nil {
		t.Fatal(err)
	}
	await(t, "the denial", is(denied))
	if err := n.SetUsers(users()...); err != nil {
		t.Fatal(err)
	}
	await(t, "the right that is given back", is(allowed))
}
