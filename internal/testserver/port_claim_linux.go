package testserver

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// claims are what this process has claimed, until it ends.
var claims struct {
	sync.Mutex

	all []net.Listener
}

// claim makes a port this process's own among all that start servers here: nobody else is given it while its server is down, to be
// started again. It is a name in Linux's abstract namespace (unix(7)), which belongs to the same network as the port, leaves no file and
// ends with the process.
func claim(port int) bool {
	l, err := new(net.ListenConfig).Listen(context.Background(), "unix", "@postbag-testserver-port-"+strconv.Itoa(port))
	if err != nil {
		return !errors.Is(err, syscall.EADDRINUSE) // where there are no such names, nothing is claimed
	}
	claims.Lock()
	defer claims.Unlock()
	claims.all = append(claims.all, l)
	return true
}
