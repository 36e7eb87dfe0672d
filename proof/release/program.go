package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Platform is an operating system and a processor, as GOOS and GOARCH name them.
type Platform struct{ OS, Arch string }

// Platforms are those for which the program is built.
func Platforms() []Platform {
	var all []Platform
	for _, system := range []string{"linux", "darwin", "windows"} {
		all = append(all, Platform{system, "amd64"}, Platform{system, "arm64"})
	}
	return all
}

// Programs installs cmd/postbag from the proxy for each platform, as a user would, and writes
// an archive of each and their checksums (SHA256SUMS, as sha256sum -c reads it).
func (m *Maker) Programs(ctx context.Context, platforms []Platform) error {
	dir := filepath.Join(m.Out, "program")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	var sums []string
	for _, p := range platforms {
		m.logf("postbag for %s on %s", p.OS, p.Arch)
		program, err := m.install(ctx, p)
		if err != nil {
			return err
		}
		name, archive, err := m.archive(p, program)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), archive, 0o644); err != nil {
			return fmt.Errorf("release: %w", err)
		}
		sums = append(sums, fmt.Sprintf("%x  %s\n", sha256.Sum256(archive), name))
	}
	slices.Sort(sums)
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(strings.Join(sums, "")), 0o644)
}

// install returns the program of a platform. One for another is an error.
func (m *Maker) install(ctx context.Context, p Platform) ([]byte, error) {
	gopath := filepath.Join(m.Out, "cache", "gopath")
	// A program for another platform goes into a folder of its own below GOPATH, and GOBIN must not be set.
	env := []string{"GOOS=" + p.OS, "GOARCH=" + p.Arch, "GOPATH=" + gopath, "GOBIN="}
	if err := m.goWith(ctx, m.Out, env, "install", "-ldflags=-s -w", root+"/cmd/postbag@"+m.Version); err != nil {
		return nil, err
	}
	bin, name := filepath.Join(gopath, "bin"), "postbag"
	if p.OS != runtime.GOOS || p.Arch != runtime.GOARCH {
		bin = filepath.Join(bin, p.OS+"_"+p.Arch)
	}
	if p.OS == "windows" {
		name += ".exe"
	}
	program, err := os.ReadFile(filepath.Join(bin, name))
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	switch is, err := platformOf(program); {
	case err != nil:
		return nil, fmt.Errorf("%w (built for %s on %s)", err, p.OS, p.Arch)
	case is != p:
		return nil, fmt.Errorf("release: what was built for %s on %s is for %s on %s; see GOFLAGS and the environment of go", p.OS, p.Arch, is.OS, is.Arch)
	}
	return program, nil
}

// archive packs a program with the licence and the readme: a zip for Windows, a tar.gz for others.
func (m *Maker) archive(p Platform, program []byte) (name string, archive []byte, err error) {
	base := fmt.Sprintf("postbag_%s_%s_%s", strings.TrimPrefix(m.Version, "v"), p.OS, p.Arch)
	type file struct {
		name string
		text []byte
		mode int64
	}
	files := []file{{"postbag", program, 0o755}}
	if p.OS == "windows" {
		files[0].name = "postbag.exe"
	}
	for _, one := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(filepath.Join(m.Dir, one))
		if err != nil {
			return "", nil, fmt.Errorf("release: %w", err)
		}
		files = append(files, file{one, text, 0o644})
	}
	var out bytes.Buffer
	if p.OS == "windows" {
		w := zip.NewWriter(&out)
		for _, f := range files {
			h := &zip.FileHeader{Name: base + "/" + f.name, Method: zip.Deflate, Modified: m.Time}
			h.SetMode(os.FileMode(f.mode))
			to, headErr := w.CreateHeader(h)
			if headErr != nil {
				return "", nil, fmt.Errorf("release: %w", headErr)
			}
			_, writeErr := to.Write(f.text)
			err = errors.Join(err, writeErr)
		}
		err = errors.Join(err, w.Close())
		return base + ".zip", out.Bytes(), err
	}
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for _, f := range files {
		headErr := w.WriteHeader(&tar.Header{Name: base + "/" + f.name, Size: int64(len(f.text)), Mode: f.mode, ModTime: m.Time})
		_, writeErr := w.Write(f.text)
		err = errors.Join(err, headErr, writeErr)
	}
	err = errors.Join(err, w.Close(), packed.Close())
	return base + ".tar.gz", out.Bytes(), err
}
