package chaos

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/source"
)

// absent is a broker that does not answer.
type absent struct{ Broker }

func (absent) CanTake() bool { return true }

func (absent) Take(ctx context.Context, _ string) (source.Source, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, source.ErrUnavailable
}

// applying is a store whose consumers are never reached.
type applying struct {
	Store
	Applier
}

func TestAConsumerThatIsToldToEndBeforeItsSourceIsOpenEndsInOrder(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if err := beConsumer(ctx, &Job{}, applying{}, absent{}, io.Discard); !errors.Is(err, source.ErrUnavailable) {
		t.Errorf("a broker that is away is reported as %v", err)
	}
	cancel()
	if err := beConsumer(ctx, &Job{}, applying{}, absent{}, io.Discard); err != nil {
		t.Error(err)
	}
}

// shell is a process of a crew that has run a script to its end, and how it ended.
func shell(t *testing.T, c *crew, script string) (m *member, how error) {
	t.Helper()
	p, err := testserver.StartProgram(testserver.ProgramOptions{Name: "a shell", Path: "/bin/sh", Args: []string{"-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	m = &member{program: p}
	c.members = []*member{m}
	_, how = p.Ended()
	return m, how
}

func TestAProcessThatFellBeforeItWasToldToEndIsNoFaultOfItsEnd(t *testing.T) {
	t.Parallel()
	c := &crew{run: &run{Options: Options{Log: io.Discard}, dir: t.TempDir()}}
	m, _ := shell(t, c, "exit 3")
	if err := c.restart(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if m.expected {
		t.Error("it passes for one that was told to end, so that nobody notes its fall")
	}
}

func TestAProcessThatPanicsIsAFaultOfTheRun(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 2": 1, "exit 3": 0, "kill -9 $$": 0} {
		r := &run{Options: Options{Log: io.Discard}, dir: t.TempDir()}
		c := &crew{run: r, job: Job{Role: Consumers}}
		m, how := shell(t, c, script)
		r.fell(c, m, how)
		if len(r.failures) != want || len(r.happened) != 1 {
			t.Errorf("%s: the failures are %q, after %v", script, r.failures, how)
		}
	}
}
