package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
)

// Tmpfs is a small file system in memory, for servers whose disk shall become full. Making one needs root on Linux.
type Tmpfs struct {
	home   *folder
	size   int64
	closed atomic.Bool
}

// MountTmpfs mounts a file system of so many bytes. A [MissingError] says that this process may not.
func MountTmpfs(ctx context.Context, size int64) (*Tmpfs, error) {
	if os.Geteuid() != 0 {
		return nil, &MissingError{What: "the right to mount a small file system", Fix: "run this test as root"}
	}
	if _, err := exec.LookPath("mount"); err != nil {
		return nil, &MissingError{What: "the program mount", Fix: "install the package mount, on Linux"}
	}
	home, err := newFolder("tmpfs", true)
	if err != nil {
		return nil, err
	}
	_, err = command{
		name: "mount", path: programPath("mount"),
		args: []string{"-t", "tmpfs", "-o", "mode=0755,size=" + strconv.FormatInt(size, 10), "postbag-test", home.path},
	}.run(ctx)
	if err != nil {
		missing := &MissingError{What: "the privilege to mount (a container may withhold it)", Fix: "run with CAP_SYS_ADMIN"}
		return nil, errors.Join(missing, err, home.Close())
	}
	return &Tmpfs{home: home, size: size}, nil
}

// Dir is the file system's folder. A server under another account needs a folder of its own in it.
func (f *Tmpfs) Dir() string { return f.home.path }

// Fill writes a file that takes all that is left but keep bytes, and returns its path: remove it to make room again. A
// server that takes the rest meanwhile is no error.
func (f *Tmpfs) Fill(keep int64) (string, error) {
	free, err := freeBytes(f.home.path)
	if err != nil {
		return "", fmt.Errorf("testserver: free space of %s: %w", f.home.path, err)
	}
	file, err := os.CreateTemp(f.home.path, "ballast-")
	if err != nil {
		return "", err
	}
	block := make([]byte, 1<<16)
	for left := free - keep; left > 0; left -= int64(len(block)) {
		_, err := file.Write(block[:min(left, int64(len(block)))])
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		if err != nil {
			return file.Name(), errors.Join(fmt.Errorf("testserver: ballast: %w", err), file.Close())
		}
	}
	return file.Name(), file.Close()
}

// Full takes all room that is left, at once and without using memory for it, until room is called.
func (f *Tmpfs) Full(ctx context.Context) (room func(context.Context) error, err error) {
	resize := func(ctx context.Context, size int64) error {
		_, err := command{
			name: "mount", path: programPath("mount"),
			args: []string{"-o", "remount,size=" + strconv.FormatInt(size, 10), f.home.path},
		}.run(ctx)
		return err
	}
	for more := int64(0); more < 1<<20; more += 1 << 16 { // somebody may write meanwhile
		free, errFree := freeBytes(f.home.path)
		if errFree != nil {
			return nil, fmt.Errorf("testserver: free space of %s: %w", f.home.path, errFree)
		}
		if err = resize(ctx, max(1, f.size-free+more)); err == nil { // without a size there is no bound, and none could be set again
			return func(ctx context.Context) error { return resize(ctx, f.size) }, nil
		}
	}
	return nil, err
}

// Close unmounts the file system, also when files in it are still open, and removes the folder. It may be called twice.
func (f *Tmpfs) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	_, err := command{name: "umount", path: programPath("umount"), args: []string{"-l", f.home.path}}.run(context.Background())
	return errors.Join(err, f.home.Close())
}

// programPath is the program's place, or its name where there is none: starting it then tells.
func programPath(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return name
}
