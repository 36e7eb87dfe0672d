package webhook

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
)

// A dial may be done only after Close, and the HTTP client may hold a connection
// for busy.
func TestCloseEndsEveryConnection(t *testing.T) {
	t.Parallel()
	var far []net.Conn
	set := conns{dial: func(context.Context, string, string) (net.Conn, error) {
		near, other := net.Pipe()
		far = append(far, other)
		return near, nil
	}}
	first, err := set.DialContext(t.Context(), "tcp", "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.DialContext(t.Context(), "tcp", "x"); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil || len(set.open) != 1 {
		t.Errorf("Close: %v, %d connections are kept", err, len(set.open))
	}
	set.closeAll()
	if _, err := set.DialContext(t.Context(), "tcp", "x"); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("a late dial: %v", err)
	}
	for i, c := range far {
		_ = c.SetReadDeadline(time.Now().Add(time.Second)) // refused where the other end is closed, as it should be
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("connection %d is open: %v", i, err)
		}
	}
	if len(far) != 3 {
		t.Errorf("%d connections were made", len(far))
	}
}
