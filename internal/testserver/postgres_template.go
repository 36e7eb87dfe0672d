package testserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// template is an initialised data directory, kept in the user's cache folder and copied for each server: copying takes
// a twentieth of the time of initdb. It goes with a password that only this user of the machine can read.
type template struct {
	data     string
	password string
}

// postgresTemplate returns the template of this version of PostgreSQL and makes it if there is none. Several processes
// may do so at once: each makes its own, and the first to rename it into place wins.
func postgresTemplate(ctx context.Context, programs pgPrograms, as *account) (template, error) {
	cache, err := cacheFolder()
	if err != nil {
		return template{}, err
	}
	sum := sha256.Sum256([]byte(programs.dir + "\n" + programs.version))
	home := filepath.Join(cache, "postgres-"+hex.EncodeToString(sum[:6]))
	if t, err := readTemplate(home); err == nil {
		return t, nil
	}
	if err := makeTemplate(ctx, programs, as, home); err != nil {
		return template{}, err
	}
	return readTemplate(home)
}

func readTemplate(home string) (template, error) {
	secret, err := os.ReadFile(filepath.Join(home, "password"))
	if err != nil {
		return template{}, fmt.Errorf("testserver: PostgreSQL's template: %w: remove %s and try again", err, home)
	}
	return template{data: filepath.Join(home, "data"), password: strings.TrimSpace(string(secret))}, nil
}

func makeTemplate(ctx context.Context, programs pgPrograms, as *account, home string) (err error) {
	work, err := newFolder("initdb", false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	password := filepath.Join(work.path, "password")
	if err := os.WriteFile(password, []byte(strings.ToLower(rand.Text())+"\n"), 0o600); err != nil {
		return err
	}
	data := filepath.Join(work.path, "data")
	if err := errors.Join(as.own(password), os.Mkdir(data, 0o700), as.own(data)); err != nil {
		return err
	}
	_, err = command{
		name: "initdb", path: programs.path("initdb"), as: as,
		args: []string{
			"--pgdata=" + data, "--username=postgres", "--pwfile=" + password, "--auth=scram-sha-256",
			"--encoding=UTF8", "--locale=C", "--no-sync",
		},
	}.run(ctx)
	if err != nil {
		return err
	}
	return keepTemplate(work.path, home)
}

// keepTemplate copies the new template beside its place and renames it there. Somebody else's, if already in place, is
// as good.
func keepTemplate(made, home string) error {
	beside, err := os.MkdirTemp(filepath.Dir(home), "new-")
	if err != nil {
		return err
	}
	if err := copyTree(made, beside, nil); err != nil {
		return errors.Join(err, os.RemoveAll(beside))
	}
	if err := os.Chmod(beside, 0o700); err != nil { //nolint:gosec // a folder needs x
		return errors.Join(err, os.RemoveAll(beside))
	}
	if err := os.Rename(beside, home); err != nil {
		if _, missing := readTemplate(home); missing != nil {
			return errors.Join(err, os.RemoveAll(beside))
		}
		return os.RemoveAll(beside)
	}
	return nil
}

// cacheFolder is where templates and built programs are kept from one run to the next: below the user's cache folder,
// or the temporary one if the user has none.
func cacheFolder() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = filepath.Join(os.TempDir(), fmt.Sprintf("postbag-cache-%d", os.Getuid()))
	}
	dir := filepath.Join(base, "postbag-testserver")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("testserver: no cache folder: %w: set XDG_CACHE_HOME to a writable folder", err)
	}
	return dir, nil
}
