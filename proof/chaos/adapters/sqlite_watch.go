package adapters

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/postbag/postbag/proof/chaos"
)

// walWriteLock is the byte of the shared-memory file that the writer locks (sqlite.org/walformat.html, "WAL locks").
const walWriteLock = 120

// Watch implements chaos.Watched, where the system lists the locks of files: it is for how long a relay's process has had the
// writer's lock at every look without a commit of anybody between them, so a look less than it was. What a producer waits for
// cannot be seen: all writers wait for each other, and nobody is in a line.
func (f *sqlite) Watch(ctx context.Context) (chaos.Seen, error) {
	seen := chaos.Seen{Waited: -1}
	if f.watch == nil {
		db, err := f.open()
		if err != nil {
			return seen, err
		}
		f.watch = db
		f.watch.SetMaxOpenConns(1) // the version is a connection's own
	}
	pid, err := writerOf(f.path + "-shm")
	if err != nil {
		return seen, err
	}
	var version int64
	if err := f.watch.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil {
		return seen, err
	}
	now := writing{pid: pid, version: version, since: time.Now()}
	if f.writing.pid == pid && f.writing.version == version {
		now.since = f.writing.since
	}
	if f.writing = now; pid == 0 || !isRelay(pid) {
		return seen, nil
	}
	seen.Open = time.Since(now.since)
	return seen, nil
}

// writing is a process that has the writer's lock.
type writing struct {
	pid     int   // zero: none
	version int64 // of the database
	since   time.Time
}

// writerOf returns the process that has the writer's lock, by the system's list of locks: a line has a number, kind, rule, way, process,
// device and inode, and the first and the last byte. Zero: nobody. The file must not be opened here: closing it would take SQLite's
// locks away from this process.
func writerOf(path string) (pid int, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	inode := uint64(0)
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 8 || !strings.HasSuffix(words[5], ":"+strconv.FormatUint(inode, 10)) { // one that waits has an arrow more
			continue
		}
		var from, to int
		if n, _ := fmt.Sscan(words[4]+" "+words[6]+" "+words[7], &pid, &from, &to); n == 3 && from <= walWriteLock && walWriteLock <= to {
			return pid, nil
		}
	}
	return 0, nil
}

// isRelay says whether a process is a relay of the harness, by the job in its environment.
func isRelay(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(text, []byte(`"role":"relay"`))
}
