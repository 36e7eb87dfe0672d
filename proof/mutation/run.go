package mutation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Target is code and the tests that are to notice changes in it.
type Target struct {
	// Module and Package are the folder of the module and the package in it.
	Module, Package string
	Files           []string
	// Run and Skip choose tests of the package; Slow are those of them that are run only where nothing else noticed.
	Run, Skip, Slow string
	// Simulator has the simulator look at what the tests did not notice, with these
	// arguments; nil: it does not.
	Simulator []string
}

// Targets are the engine core, and what finds and holds positions.
func Targets() []Target {
	return []Target{
		{
			Module: ".", Package: "internal/engine", Simulator: []string{"-seeds", "150"}, Skip: "Alloc",
			Slow:  "ComeToRest|MovesOnlyWhenItMust|GatheredShards",
			Files: []string{"call_answer.go", "call_circuit.go", "call_send.go", "call_slow.go", "call_transaction.go", "entry.go", "entry_chain.go", "entry_queue.go", "flow.go", "group.go", "group_meet.go", "lot_command.go", "lot_due.go", "lot_park.go", "retry.go", "shard.go", "shard_leave.go", "shard_share.go", "turn.go", "turn_absorb.go", "turn_drained.go", "turn_settle.go", "turn_tally.go"},
		},
		{
			Module: ".", Package: "store/sqlkit/snapshots", Simulator: []string{"-seeds", "150", "-store", "snapshots"},
			Files: []string{"bounds.go", "codec.go", "position.go", "snapshot.go"},
		},
		{
			Module: "store/sqlitestore", Package: ".", Files: []string{"position.go", "turn_read.go"},
			Run: "TestPositions|TestMessagesAre|TestALogThatLost|TestAReadDuring|TestConformanceOfAStoreOnAPath/(" +
				"A_commit|A_filter|A_limit|A_missing|A_position|A_range|A_read|A_settlement_moves|A_lagging|A_window|An_empty|Another_process|" +
				"Bytes|Limit|Messages_that|One_read|Several_readers|Subscriptions_of)",
		},
	}
}

// Survivor is a change that nobody noticed.
type Survivor struct {
	Change

	Target string
}

// Score is what came of a target.
type Score struct {
	Target    string
	Changes   int
	Survivors []Survivor
}

// Bench tries changes on the tree at Top.
type Bench struct {
	Top string
	// Every takes one change in so many; one: all.
	Every int
	// Parallel is how many are tried at a time.
	Parallel int
	// Patience is how much of the processor the tests may take with a change, in whole seconds, and in twenty
	// times that they must end. What they did not end in is noticed: something turns in a circle.
	Patience time.Duration
	// Say is told of survivors and of progress.
	Say func(format string, about ...any)
}

// Try tries the changes of a target.
func (b *Bench) Try(ctx context.Context, t *Target) (Score, error) {
	score := Score{Target: filepath.ToSlash(filepath.Join(t.Module, t.Package))}
	folder, err := os.MkdirTemp("", "postbag-mutation-*")
	if err != nil {
		return score, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	replace, changes, err := Rewrite(filepath.Join(b.Top, t.Module, t.Package), t.Files, folder)
	if err != nil {
		return score, err
	}
	programs, err := b.build(ctx, t, replace, folder)
	if err != nil {
		return score, err
	}
	noticed, said, err := b.noticed(ctx, programs, 0)
	if err == nil && noticed {
		err = fmt.Errorf("%s: the tests fail without a change:\n%s", score.Target, said)
	}
	if err != nil {
		return score, err
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	free := make(chan struct{}, b.Parallel)
	for i := 0; i < len(changes); i += b.Every {
		score.Changes++
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			noticed, _, fault := b.noticed(ctx, programs, changes[i].Number)
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, fault)
			if !noticed && fault == nil {
				score.Survivors = append(score.Survivors, Survivor{changes[i], score.Target})
				b.Say("survives  %s/%s: %s\n", score.Target, changes[i].Place, changes[i].What)
			}
		})
	}
	wg.Wait()
	return score, err
}

// program is one that fails if it notices a change.
type program struct {
	path, folder string
	arguments    []string
}

// build builds the tests, and the simulator, with all changes.
func (b *Bench) build(ctx context.Context, t *Target, replace map[string]string, folder string) ([]program, error) {
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		return nil, err
	}
	tests := program{path: filepath.Join(folder, "tests"), folder: filepath.Join(b.Top, t.Module, t.Package)}
	if err := b.goBuild(ctx, t.Module, "test", "-c", "-vet=off", "-overlay", overlay, "-o", tests.path, "./"+t.Package); err != nil {
		return nil, err
	}
	slow := tests
	tests.arguments = []string{"-test.failfast", "-test.short", "-test.run", t.Run, "-test.skip", either(t.Skip, t.Slow)}
	out := []program{tests}
	if t.Simulator != nil {
		simulator := program{path: filepath.Join(folder, "simulator"), folder: folder}
		simulator.arguments = append([]string{"-workers", "1", "-stop-at-first", "-json"}, t.Simulator...)
		if err := b.goBuild(ctx, "proof", "build", "-overlay", overlay, "-o", simulator.path, "./cmd/postbag-sim"); err != nil {
			return nil, err
		}
		out = append(out, simulator)
	}
	if t.Slow != "" {
		slow.arguments = []string{"-test.failfast", "-test.short", "-test.run", t.Slow}
		out = append(out, slow)
	}
	return out, nil
}

// either is a pattern of what one of two patterns fits; an empty one fits nothing.
func either(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "|" + b
}

func (b *Bench) goBuild(ctx context.Context, module string, arguments ...string) error {
	c := exec.CommandContext(ctx, "go", arguments...)
	c.Dir = filepath.Join(b.Top, module)
	c.Env = append(os.Environ(), "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("the changed code does not build: %w\n%s", err, out)
	}
	return nil
}

// limits runs a program with as many seconds of the processor, and as much memory as code that turns in a circle may eat.
const limits = `ulimit -t "$0"; ulimit -v 8000000; exec "$@"`

// noticed says whether one of the programs fails with a change, or does not end.
func (b *Bench) noticed(ctx context.Context, programs []program, number int) (noticed bool, said []byte, err error) {
	for _, p := range programs {
		limited, cancel := context.WithTimeout(ctx, 20*b.Patience)
		seconds := strconv.Itoa(int(b.Patience.Seconds()))
		c := exec.CommandContext(limited, "sh", append([]string{"-c", limits, seconds, p.path}, p.arguments...)...)
		c.Dir = p.folder
		c.Env = append(os.Environ(), variable+"="+strconv.Itoa(number))
		c.WaitDelay = 5 * time.Second
		said, err = c.CombinedOutput()
		late := limited.Err() != nil
		cancel()
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return false, said, ctx.Err()
		case errors.As(err, &exit), late:
			return true, said, nil //nolint:nilerr // that it fails is what was asked
		case err != nil:
			return false, said, err
		}
	}
	return false, said, nil
}
