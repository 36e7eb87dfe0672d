package testserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Do sends one command as the default user, over a connection of its own, and returns the answer as text: the elements of
// a list one a line. An answer that is an error is one. Without a deadline in ctx it waits 10 s.
func (r *Redis) Do(ctx context.Context, args ...string) (string, error) {
	conn, err := r.dial(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(10 * time.Second)
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return "", err
	}
	in := bufio.NewReader(conn)
	if r.opts.Password != "" {
		if _, err := respAsk(conn, in, "AUTH", r.opts.Password); err != nil {
			return "", err
		}
	}
	return respAsk(conn, in, args...)
}

func (r *Redis) dial(ctx context.Context) (net.Conn, error) {
	if r.tls == nil {
		return dial(ctx, r.port)
	}
	config, err := r.tls.client("")
	if err != nil {
		return nil, err
	}
	dialer := tls.Dialer{Config: config}
	return dialer.DialContext(ctx, "tcp", r.Addr())
}

// respAsk sends a command and reads its answer, both in the protocol of redis.io/docs/reference/protocol-spec.
func respAsk(out io.Writer, in *bufio.Reader, args ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return "", err
	}
	return respRead(in)
}

func respRead(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("testserver: Redis answered an empty line")
	}
	switch kind, rest := line[0], line[1:]; kind {
	case '+', ':':
		return rest, nil
	case '-':
		return "", errors.New(rest)
	case '$':
		return respBulk(in, rest)
	case '*':
		return respList(in, rest)
	default:
		return "", fmt.Errorf("testserver: Redis answered %q", line)
	}
}

func respBulk(in *bufio.Reader, length string) (string, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return "", err
	}
	text := make([]byte, n+2)
	_, err = io.ReadFull(in, text)
	return string(text[:n]), err
}

func respList(in *bufio.Reader, length string) (string, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return "", err
	}
	parts := make([]string, n)
	for i := range parts {
		if parts[i], err = respRead(in); err != nil {
			return "", err
		}
	}
	return strings.Join(parts, "\n"), nil
}
