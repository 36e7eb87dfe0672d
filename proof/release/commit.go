package release

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Name writes the changelog of a release into a checkout at dir.
func (n *Notes) Name(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(n.Changelog), 0o644); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// Commit commits the changelog as [Notes.Name] wrote it, then the modules as they were pinned, in a checkout at dir that is on
// no branch, and tags each of them. The branch can take the first of the two commits. Nothing is pushed.
func Commit(ctx context.Context, dir, version string, notes *Notes, all []*Module) error {
	args := []string{"commit", "--quiet", "--allow-empty", "-m", "release: name what " + version + " changes", "--", "CHANGELOG.md"}
	if err := git(ctx, dir, args...); err != nil {
		return err
	}
	if err := git(ctx, dir, "commit", "--quiet", "--all", "-m", "release: "+version, "-m", "Every module requires the others by version. Development goes on from the commit before."); err != nil {
		return err
	}
	for _, m := range all {
		if err := git(ctx, dir, "tag", "--annotate", m.Tag(version), "-m", m.Path+" "+version+"\n\n"+notes.Text); err != nil {
			return err
		}
	}
	return nil
}

// Worktree makes a checkout of the last commit at to. Close it to remove it; its commits stay.
func Worktree(ctx context.Context, dir, to string) (done func() error, err error) {
	status, err := exec.CommandContext(ctx, "git", "-C", dir, "status", "--porcelain").Output()
	if err != nil {
		return nil, fmt.Errorf("release: git status: %w; run it in a checkout", err)
	}
	if len(status) > 0 {
		return nil, fmt.Errorf("release: the checkout has changes that are not committed; commit them first:\n%s", status)
	}
	if err := git(ctx, dir, "worktree", "add", "--quiet", "--detach", to, "HEAD"); err != nil {
		return nil, err
	}
	return func() error {
		return git(context.WithoutCancel(ctx), dir, "worktree", "remove", "--force", to)
	}, nil
}

func git(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("release: git %s: %w\n%s", args[0], err, out)
	}
	return nil
}
