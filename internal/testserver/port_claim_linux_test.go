package testserver

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// claimer is set in a process that claims the port it names, says so, and waits.
const claimer = "POSTBAG_TEST_CLAIM"

func TestAPortBelongsToOneProcessUntilItEnds(t *testing.T) {
	t.Parallel()
	var port int
	if named := os.Getenv(claimer); named != "" {
		_, err := fmt.Sscan(named, &port)
		_, _ = fmt.Fprintln(os.Stdout, "claimed:", claim(port), err) // the parent misses it if it is not written
		_, _ = os.Stdin.Read(make([]byte, 1))                        // until its parent wants it to end
		return
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	if claim(port) {
		t.Error("a port is given out twice")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := func(port int) (string, func()) {
		c := exec.Command(self, "-test.run", t.Name())
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", claimer, port))
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 100)
		n, _ := out.Read(line)
		return string(line[:n]), func() {
			if err := errors.Join(in.Close(), c.Wait()); err != nil {
				t.Error(err)
			}
		}
	}
	said, end := other(port)
	end()
	if !strings.HasPrefix(said, "claimed: false <nil>") {
		t.Errorf("another process says %q of a port that is taken", said)
	}
	free := highestPort + 1 + rand.IntN(700) // freePort gives no such one
	said, end = other(free)
	if !strings.HasPrefix(said, "claimed: true <nil>") {
		t.Errorf("another process says %q of a port that is free", said)
	}
	if claim(free) {
		t.Error("a port is taken from a process that lives")
	}
	end()
	if !claim(free) {
		t.Error("the port of a process that has ended is not free")
	}
}
