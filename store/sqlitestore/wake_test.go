package sqlitestore

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A commit is written to the log before it is there for readers: between the two the
// file is synchronised, which takes as long as the disk likes. The only hint came with
// the first write, and the relay found nothing until it polled.
func TestAWALWriteWakesRepeatedlyUntilItsCommitIsVisible(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(t *testing.T, s *Store, c *changes){
		"the kernel tells": func(_ *testing.T, _ *Store, c *changes) { c.seen <- struct{}{} },
		"it is looked at": func(t *testing.T, s *Store, _ *changes) {
			t.Helper()
			if err := os.WriteFile(s.walFile(), []byte("a commit"), 0o600); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &Store{woken: make(chan struct{}, 1), opts: Options{Watch: 5 * time.Millisecond}}
				s.file = filepath.Join(t.TempDir(), "a.db")
				c := &changes{seen: make(chan struct{}, 1)}
				done, ended := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(ended)
					if name == "the kernel tells" {
						s.followLog(done, c)
					} else {
						s.watchLog(done)
					}
				}()
				<-time.After(4 * time.Millisecond)
				synctest.Wait()
				write(t, s, c)
				began := time.Now()
				var at []time.Duration
				for quiet := time.After(time.Minute); len(at) < 100; {
					select {
					case <-s.woken:
						at = append(at, time.Since(began).Round(5*time.Millisecond)/time.Millisecond)
						continue
					case <-quiet:
					}
					break
				}
				if want := []time.Duration{0, 5, 15, 35, 75, 155, 315}; !slices.Equal(at, want) {
					t.Errorf("hints came after %d ms, want %d", at, want)
				}
				close(done)
				close(c.seen)
				<-ended
			})
		})
	}
}

// Writes without a pause are hinted at once in Options.Watch.
func TestConstantWritesWakeAtMostOncePerWatchInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Store{woken: make(chan struct{}, 1), opts: Options{Watch: 5 * time.Millisecond}}
		c := &changes{seen: make(chan struct{}, 1)}
		done, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			s.followLog(done, c)
		}()
		hints := 0
		for begun := time.Now(); time.Since(begun) < time.Second; {
			select {
			case c.seen <- struct{}{}:
			default:
			}
			select {
			case <-s.woken:
				hints++
			case <-time.After(100 * time.Microsecond):
			}
		}
		if hints < 190 || hints > 202 {
			t.Errorf("%d hints in a second, want about 200", hints)
		}
		close(done)
		close(c.seen)
		<-ended
	})
}
