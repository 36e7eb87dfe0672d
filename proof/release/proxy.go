package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// Maker makes one release.
type Maker struct {
	// Dir is a checkout that the maker may write to.
	Dir string
	// Out is the folder for what is made; it must be empty or missing.
	Out string
	// Version is that of every module, such as v0.1.0.
	Version string
	// Time is when the release was made. Zero: now.
	Time time.Time
	// Log hears of each step. Optional.
	Log io.Writer

	cache string // of the modules that the go command fetches meanwhile
}

func (m *Maker) logf(format string, args ...any) {
	if m.Log != nil {
		_, _ = fmt.Fprintf(m.Log, "==> "+format+"\n", args...)
	}
}

// Proxy is the folder of the module proxy.
func (m *Maker) Proxy() string { return filepath.Join(m.Out, "proxy") }

// Modules pins every module, looks that all it imports can be fetched in that form, and puts
// it into the proxy. It returns them in the sequence of their needs.
func (m *Maker) Modules(ctx context.Context) ([]*Module, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	all, err := Modules(m.Dir)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		m.logf("%s %s", one.Path, m.Version)
		if err := one.pin(m.Dir, m.Version); err != nil {
			return nil, err
		}
		for _, args := range [][]string{{"mod", "tidy"}, {"list", "-deps", "./..."}} {
			if err := m.Go(ctx, filepath.Join(m.Dir, one.Dir), args...); err != nil {
				return nil, err
			}
		}
		if err := m.publish(one); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (m *Maker) check() error {
	if err := checkVersion(m.Version); err != nil {
		return err
	}
	if left, err := os.ReadDir(m.Out); err == nil && len(left) > 0 {
		return fmt.Errorf("release: %s is not empty; name another folder", m.Out)
	}
	if m.Time.IsZero() {
		m.Time = time.Now()
	}
	for _, dir := range []string{m.Proxy(), filepath.Join(m.Out, "cache")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("release: %w", err)
		}
	}
	m.cache = filepath.Join(m.Out, "cache")
	return nil
}

// publish puts a module into the proxy.
func (m *Maker) publish(one *Module) error {
	escaped, err := module.EscapePath(one.Path)
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	dir := filepath.Join(m.Proxy(), filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	info, err := json.Marshal(struct {
		Version string    `json:"Version"`
		Time    time.Time `json:"Time"`
	}{m.Version, m.Time.UTC().Truncate(time.Second)})
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	mod, err := os.ReadFile(filepath.Join(m.Dir, one.Dir, "go.mod"))
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	archive, err := os.Create(filepath.Join(dir, m.Version+".zip"))
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	err = zip.CreateFromDir(archive, module.Version{Path: one.Path, Version: m.Version}, filepath.Join(m.Dir, one.Dir))
	return errors.Join(err, archive.Close(),
		os.WriteFile(filepath.Join(dir, m.Version+".info"), info, 0o644),
		os.WriteFile(filepath.Join(dir, m.Version+".mod"), mod, 0o644),
		os.WriteFile(filepath.Join(dir, "list"), []byte(m.Version+"\n"), 0o644))
}

// Environment is that of a go command for which the release is published: it fetches from the
// proxy, keeps what it fetches apart from everybody's cache, which must never hold a version
// that was only tried, and takes other modules from that cache before it asks the network. Paths
// are trimmed, so that what was once compiled is found again from any folder.
func (m *Maker) Environment(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOPROXY", "GOFLAGS").Output()
	if err != nil {
		return nil, fmt.Errorf("release: go env: %w", err)
	}
	values := strings.Split(string(out), "\n")
	proxies := []string{fileURL(m.Proxy()), fileURL(filepath.Join(values[0], "cache", "download")), values[1]}
	return append(os.Environ(),
		"GOWORK=off", "GOPROXY="+strings.Join(proxies, ","), "GONOSUMDB="+root+","+root+"/*", "GOMODCACHE="+m.cache,
		"GOFLAGS="+strings.TrimSpace(values[2]+" -modcacherw -trimpath"), "CGO_ENABLED=0"), nil
}

func fileURL(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return "file://" + filepath.ToSlash(path)
}

// Go runs a go command for which the release is published, in dir.
func (m *Maker) Go(ctx context.Context, dir string, args ...string) error {
	return m.goWith(ctx, dir, nil, args...)
}

func (m *Maker) goWith(ctx context.Context, dir string, more []string, args ...string) error {
	env, err := m.Environment(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	env = append(env, more...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("release: go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, out)
	}
	return nil
}

// Close removes what only the making needed.
func (m *Maker) Close() error { return os.RemoveAll(filepath.Join(m.Out, "cache")) }
