package mqttbroker

import (
	"net"
	"syscall"
)

// prompt has the kernel acknowledge what was read at once. It waits for up to 40 ms
// otherwise, in the hope of something to send along; a broker that leaves Nagle's
// algorithm on, as Mosquitto does by default, sends its next answers no sooner. The
// kernel takes the setting for a hint and forgets it: tcp(7), TCP_QUICKACK.
type prompt struct {
	*net.TCPConn

	raw syscall.RawConn
}

func promptly(conn net.Conn) net.Conn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn
	}
	return &prompt{tcp, raw}
}

// Read implements [net.Conn].
func (p *prompt) Read(b []byte) (int, error) {
	n, err := p.TCPConn.Read(b)
	if err == nil {
		_ = p.raw.Control(func(fd uintptr) { // where it fails, answers come later
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1)
		})
	}
	return n, err
}
