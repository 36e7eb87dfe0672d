package adapters

import (
	"context"
	"errors"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/proof/chaos"
)

// The names of faults.
const (
	fullDisk = "full disk under the database"
	diskFull = "full disk under the broker"
	// noDisk is said where there is none that could be full.
	noDisk = "not available: this process may not mount a file system"
)

// diskOf mounts a small file system, or returns nil where this process may not.
func diskOf(ctx context.Context, size int64) (*testserver.Tmpfs, error) {
	disk, err := testserver.MountTmpfs(ctx, size)
	if errors.Is(err, testserver.ErrMissing) {
		return nil, nil //nolint:nilnil // there is none
	}
	return disk, err
}

// smallDisk is a file system that can be filled under a broker; nil where nobody wants it, or this process may not mount one.
func smallDisk(ctx context.Context, t chaos.Terms) (*testserver.Tmpfs, error) {
	if !t.Wants(diskFull) {
		return nil, nil //nolint:nilnil // there is none
	}
	return diskOf(ctx, 1<<30)
}

// full is a file system that has no room for a while. after, if any, brings back what a full disk ended. Where none could be mounted
// the report says so.
func full(name string, room chaos.Room, disk *testserver.Tmpfs, after func(context.Context) error) chaos.Fault {
	return fullOf(name, room, func() *testserver.Tmpfs { return disk }, after)
}

// fullOf is the same of the file system that pick returns at that time.
func fullOf(name string, room chaos.Room, pick func() *testserver.Tmpfs, after func(context.Context) error) chaos.Fault {
	return chaos.Fault{
		Name: name, Room: room, Repeats: chaos.EveryRelay, Stops: true, Least: time.Second, Most: 4 * time.Second,
		Begin: func(ctx context.Context, s *chaos.Strike) (func(context.Context) error, error) {
			disk := pick()
			if disk == nil {
				s.Idle(noDisk)
				return nil, nil
			}
			makeRoom, err := disk.Full(ctx)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context) error {
				err := makeRoom(ctx)
				if after != nil {
					err = errors.Join(err, after(ctx))
				}
				return err
			}, nil
		},
	}
}
