package testserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// folder is a server's own directory below the system's temporary one. Close removes it; if this process dies first,
// the guardian does.
//
// The guardian is a shell that waits for the end of its standard input, which comes when this process is gone for
// whatever reason. Lines that it is sent before are the process ids that are frozen at present, to be woken then so
// that they can follow their parent.
type folder struct {
	path string

	mu       sync.Mutex
	guardian *exec.Cmd
	leash    io.WriteCloser
}

// guardianScript: $1 is the folder. What is still being written to while its owner dies needs a second try.
const guardianScript = `
frozen=
while read -r line; do
	case $line in leave) exit 0 ;; esac
	frozen=$line
done
[ -z "$frozen" ] || kill -CONT $frozen 2>/dev/null
if [ "$2" = true ]; then umount -l "$1" 2>/dev/null; fi
for try in 1 2 3 4 5 6 7 8 9 10; do
	rm -rf -- "$1" 2>/dev/null && exit 0
	sleep 0.5
done
`

// newFolder makes a folder that only its owner can list, yet others can pass through (a server under another account
// has its own folder inside).
func newFolder(kind string, mounted bool) (*folder, error) {
	return newFolderIn("", kind, mounted)
}

// newFolderIn is newFolder below another folder than the system's temporary one.
func newFolderIn(base, kind string, mounted bool) (*folder, error) {
	path, err := os.MkdirTemp(base, "postbag-"+kind+"-")
	if err != nil {
		return nil, fmt.Errorf("testserver: no temporary folder: %w: set TMPDIR to a writable one", err)
	}
	if err := os.Chmod(path, 0o711); err != nil { //nolint:gosec // passing through is wanted, see above
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	f := &folder{path: path}
	f.guard(mounted)
	return f, nil
}

// guard starts the guardian. A machine without a shell goes without. Mounted says what the shell shall unmount.
func (f *folder) guard(mounted bool) {
	cmd := exec.CommandContext(context.Background(), "sh", "-c", guardianScript, "postbag-guardian", f.path, strconv.FormatBool(mounted))
	cmd.Dir = "/"
	detach(cmd)
	leash, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	if err := cmd.Start(); err != nil {
		return
	}
	f.guardian, f.leash = cmd, leash
}

// frozen tells the guardian which processes are stopped now; none clears the list.
func (f *folder) frozen(pids []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leash == nil {
		return
	}
	words := make([]string, 0, len(pids))
	for _, pid := range pids {
		words = append(words, strconv.Itoa(pid))
	}
	_, _ = io.WriteString(f.leash, strings.Join(words, " ")+"\n")
}

// Close sends the guardian away and removes the folder. It may be called twice.
func (f *folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leash != nil {
		_, _ = io.WriteString(f.leash, "leave\n")
		_ = f.leash.Close()
		_ = f.guardian.Wait()
		f.leash = nil
	}
	return os.RemoveAll(f.path)
}

const (
	memoryFolder = "/dev/shm" // Linux has a file system in memory here
	memoryNeeded = 4 << 30    // bytes that must be free in it: the tests of two modules at a time take less than one of the four
)

// inMemory is the folder of a file system in memory that has room for the data of many servers, or "" for the system's
// temporary one. A TMPDIR that is set says where files go. The long form of tests writes more than should be in memory.
func inMemory() string {
	if os.Getenv("TMPDIR") != "" || os.Getenv("POSTBAG_FULL") == "1" {
		return ""
	}
	if free, err := freeBytes(memoryFolder); err != nil || free < memoryNeeded {
		return ""
	}
	return memoryFolder
}
