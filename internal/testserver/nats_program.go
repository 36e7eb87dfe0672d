package testserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// natsdEnv names a natsd that is already built, to save each test process a look at its sources.
const natsdEnv = "POSTBAG_NATSD"

// natsdSource is the command's folder below the root of the repository.
const natsdSource = "proof/cmd/natsd"

// findNatsd returns the path of an up-to-date natsd. Without one in POSTBAG_NATSD it lets the go command build it into the
// cache folder, which takes half a minute the first time and a moment later; the go command itself knows whether
// sources changed.
func findNatsd(ctx context.Context) (string, error) {
	if path := os.Getenv(natsdEnv); path != "" {
		if _, err := exec.LookPath(path); err != nil {
			return "", &MissingError{What: "the program that " + natsdEnv + " names", Fix: "correct or unset the variable"}
		}
		return path, nil
	}
	root, err := repositoryRoot()
	if err != nil {
		return "", err
	}
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(root))
	target := filepath.Join(cache, "natsd-"+hex.EncodeToString(sum[:6]))
	return target, buildNatsd(ctx, root, target)
}

// buildNatsd builds beside the target and renames: another process may run or build the same file now. It builds over
// a copy of the last one, which the go command leaves alone, unlinked again, if it is still current.
func buildNatsd(ctx context.Context, root, target string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return &MissingError{What: "the go command, which builds the NATS server,", Fix: "put it into PATH"}
	}
	work, err := os.MkdirTemp(filepath.Dir(target), "build-")
	if err != nil {
		return fmt.Errorf("testserver: natsd could not be built: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	fresh := filepath.Join(work, "natsd")
	_ = copyFile(target, fresh, 0o755) // without one the go command links again
	cmd := exec.CommandContext(ctx, "go", "build", "-o", fresh, ".")
	cmd.Dir = filepath.Join(root, natsdSource)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("testserver: natsd could not be built: %w: %s", err, lastLines(string(out), 12))
	}
	return os.Rename(fresh, target)
}

// repositoryRoot finds the checkout from the current folder upwards, else from where this file was compiled.
func repositoryRoot() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	_, file, _, _ := runtime.Caller(0) //nolint:dogsled // that is how it is
	for _, start := range []string{here, filepath.Dir(file)} {
		for dir := start; ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, natsdSource, "main.go")); err == nil {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", &MissingError{
		What: "the source of the NATS server (" + natsdSource + ")",
		Fix:  "run inside a checkout of the repository, or set " + natsdEnv,
	}
}
