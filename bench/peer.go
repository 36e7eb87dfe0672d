package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// peers are programs that measure another outbox, given as name=command: see peers/README.md.
type peers []way

// peerScenario is the scenario that has the peers.
const peerScenario = "2-drain-mariadb"

func (p *peers) String() string { return "" }

// Set takes name=command.
func (p *peers) Set(text string) error {
	name, command, ok := strings.Cut(text, "=")
	if !ok || name == "" || strings.TrimSpace(command) == "" {
		return errors.New("write it as name=command")
	}
	*p = append(*p, way{name, peerDrain(10_000, strings.Fields(command))})
	return nil
}

// peerDrain has a program fill a database, and takes the time that it needs to drain it.
func peerDrain(n int, command []string) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (_ sample, err error) {
		dsn, drop, err := l.mysqlDatabase(ctx, false)
		if err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, drop()) }()
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "PEER_DSN="+dsn+"?parseTime=true&multiStatements=true", "PEER_MESSAGES="+strconv.Itoa(n))
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			return sample{}, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return sample{}, err
		}
		if err := cmd.Start(); err != nil {
			return sample{}, err
		}
		defer func() { err = errors.Join(err, cmd.Wait()) }()
		words := bufio.NewScanner(out)
		if err := await(words, "ready"); err != nil {
			return sample{}, err
		}
		w := l.start()
		if _, err := io.WriteString(in, "go\n"); err != nil {
			return sample{}, err
		}
		if err := await(words, "done"); err != nil {
			return sample{}, err
		}
		return w.stop(n), nil
	}
}

// await reads lines up to a word.
func await(lines *bufio.Scanner, word string) error {
	for lines.Scan() {
		if lines.Text() == word {
			return nil
		}
	}
	return errors.Join(lines.Err(), fmt.Errorf("the peer ended without saying %s", word))
}
