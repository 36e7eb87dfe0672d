package natsbroker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/postbag/postbag/source"
)

// command is one of those that JetStream takes on the ack subject of a message.
type command struct {
	reply   string
	payload []byte
}

var (
	ackDone   = []byte("+ACK")
	ackExtend = []byte("+WPI")
	ackBack   = []byte("-NAK")
)

const (
	// ackPrefix is how ack subjects begin.
	ackPrefix = "$JS.ACK."
	// confirmAtOnce is how many commands are sent and not answered at a time, by one call.
	confirmAtOnce = 1000
	// confirmTimeout is for how long a call waits for an answer.
	confirmTimeout = 5 * time.Second
)

// confirmation is a call that waits for the server's answers to commands.
type confirmation struct {
	mu       sync.Mutex
	left     int
	answered []bool
	err      error
	over     chan struct{}
}

func newConfirmation(n int) *confirmation {
	return &confirmation{left: n, answered: make([]bool, n), over: make(chan struct{})}
}

// answer notes the answer to command i; an error ends the call.
func (c *confirmation) answer(i int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 || err == nil && (i < 0 || i >= len(c.answered) || c.answered[i]) {
		return
	}
	if err != nil {
		c.left, c.err = 0, err
	} else {
		c.answered[i] = true
		c.left--
	}
	if c.left == 0 {
		close(c.over)
	}
}

// errNotAnswered: an answer did not come, so that nobody knows what the server did.
var errNotAnswered = errors.New("natsbroker: no answer came")

// answeredCommand finds whom an answer is for.
func (s *Source) answeredCommand(call uint64, i int, m *nats.Msg) {
	s.confirming.Lock()
	c := s.confirmations[call]
	s.confirming.Unlock()
	if c == nil {
		return
	}
	if m.Header.Get("Status") == "503" {
		c.answer(i, nats.ErrNoResponders)
		return
	}
	c.answer(i, nil)
}

// lostConnection ends every call that waits, and makes Fetch look at everything again.
func (s *Source) lostConnection() {
	s.confirming.Lock()
	all := make([]*confirmation, 0, len(s.confirmations))
	for _, c := range s.confirmations {
		all = append(all, c)
	}
	s.confirming.Unlock()
	for _, c := range all {
		c.answer(0, nats.ErrDisconnected)
	}
	s.cut.Store(true)
	s.pulls.signal()
}

// confirm sends commands, and returns when the server has answered each. Any error means
// that it is not known what became of them.
func (s *Source) confirm(ctx context.Context, doing string, commands []command) error {
	for len(commands) > 0 {
		n := min(len(commands), confirmAtOnce)
		if err := s.confirmSome(ctx, doing, commands[:n]); err != nil {
			return err
		}
		commands = commands[n:]
	}
	return nil
}

func (s *Source) confirmSome(ctx context.Context, doing string, commands []command) error {
	if err := s.disconnected(doing); err != nil {
		return err
	}
	if f := s.inbox.open(ctx); f != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return s.translate(doing, f)
	}
	prefix := s.inbox.subjects()
	c := newConfirmation(len(commands))
	s.confirming.Lock()
	s.lastConfirmation++
	call := s.lastConfirmation
	s.confirmations[call] = c
	s.confirming.Unlock()
	defer func() {
		s.confirming.Lock()
		defer s.confirming.Unlock()
		delete(s.confirmations, call)
	}()
	before := s.nc.LastError()
	// A client whose server does not read blocks without regard to ctx. The goroutine ends
	// with the call, or as soon as the client lets go of it.
	go func() {
		var r replies
		for i, command := range commands {
			if err := s.nc.PublishRequest(command.reply, r.next(prefix, call, i, len(commands)), command.payload); err != nil {
				c.answer(0, err)
				return
			}
		}
	}()
	timer := time.NewTimer(confirmTimeout)
	defer timer.Stop()
	select {
	case <-c.over:
		return s.translate(doing, c.err)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		if err := s.denied(doing, before); err != nil {
			return err
		}
		return s.failure(source.ErrUnavailable, doing, errNotAnswered.Error(), "call again, or let the messages come again")
	}
}
