package testserver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// Ports are taken below the range from which Linux numbers outgoing connections (32768 and up), so that no stranger's
// connection sits on a server's port while that server is being restarted.
const (
	lowestPort   = 12000
	highestPort  = 32000
	portAttempts = 200
)

// freePort returns a port of 127.0.0.1 on which nobody listens now, and which no other process that calls freePort is given while this one
// lives. A stranger may take it before the caller does: callers try again with another.
func freePort() (int, error) {
	for range portAttempts {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		l, err := net.Listen("tcp", loopback(port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil || claim(port) {
			return port, err
		}
	}
	return 0, errors.New("testserver: no free port of 127.0.0.1 found between " +
		fmt.Sprintf("%d and %d: end what listens there", lowestPort, highestPort))
}

// portTaken says whether somebody listens on the port or the port cannot be had for another reason.
func portTaken(port int) bool {
	l, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return true
	}
	return l.Close() != nil
}

// dial connects to a port of 127.0.0.1 within a second.
func dial(ctx context.Context, port int) (net.Conn, error) {
	dialer := net.Dialer{Timeout: time.Second}
	return dialer.DialContext(ctx, "tcp", loopback(port))
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
