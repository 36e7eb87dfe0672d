package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver/servertest"
)

// built are the platforms whose programs the test of a release builds. The form that continuous integration runs leaves five of the six
// out: each compiles all packages again, for some minutes. It only sees that every package has files for each platform. That those
// programs compile is known from the long form alone (POSTBAG_FULL=1), and from scripts/release, which stops at a program that is not
// for its platform.
func built(t *testing.T) []Platform {
	t.Helper()
	if servertest.Full() {
		return Platforms()
	}
	t.Logf("the program of %s on %s is built; the others of %v are not, without POSTBAG_FULL=1", runtime.GOOS, runtime.GOARCH, Platforms())
	return []Platform{{runtime.GOOS, runtime.GOARCH}}
}

// checkArchives looks into the archive of each platform: its checksum, its files, and what platform the program is for.
func checkArchives(t *testing.T, m *Maker, platforms []Platform) {
	t.Helper()
	dir := filepath.Join(m.Out, "program")
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(sums), "\n"); n != len(platforms) {
		t.Errorf("%d checksums of %d programs:\n%s", n, len(platforms), sums)
	}
	for _, p := range platforms {
		base, name, unpack := "postbag_0.1.0_"+p.OS+"_"+p.Arch, "postbag", untar
		archive := base + ".tar.gz"
		if p.OS == "windows" {
			archive, name, unpack = base+".zip", "postbag.exe", unzip
		}
		text, err := os.ReadFile(filepath.Join(dir, archive))
		if err != nil {
			t.Error(err)
			continue
		}
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(text), archive); !strings.Contains(string(sums), line) {
			t.Errorf("SHA256SUMS has no line %s", line)
		}
		files, err := unpack(text)
		if err != nil || len(files) != 3 {
			t.Errorf("%s has %d files: %v", archive, len(files), err)
		}
		if is, err := platformOf(files[base+"/"+name]); err != nil || is != p {
			t.Errorf("the program in %s is for %v: %v", archive, is, err)
		}
	}
}

func untar(archive []byte) (map[string][]byte, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for in := tar.NewReader(unpacked); ; {
		header, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return files, err
		}
		if files[header.Name], err = io.ReadAll(in); err != nil {
			return files, err
		}
	}
}

func unzip(archive []byte) (map[string][]byte, error) {
	in, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for _, one := range in.File {
		text, err := one.Open()
		if err != nil {
			return files, err
		}
		if files[one.Name], err = io.ReadAll(text); err != nil {
			return files, err
		}
	}
	return files, nil
}

// packed are values as a header has them, in little endian.
func packed(t *testing.T, values ...any) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&out, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func elfOf(t *testing.T, kind elf.Type, machine elf.Machine) []byte {
	t.Helper()
	h := elf.Header64{Type: uint16(kind), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT)}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	return packed(t, h)
}

func machoOf(t *testing.T, kind macho.Type, cpu macho.Cpu) []byte {
	t.Helper()
	return packed(t, macho.FileHeader{Magic: macho.Magic64, Cpu: cpu, Type: kind}, uint32(0))
}

func peOf(t *testing.T, kind, machine uint16) []byte {
	t.Helper()
	dos := make([]byte, 96)
	copy(dos, "MZ")
	dos[0x3c] = byte(len(dos)) // where the next header is
	return packed(t, dos, []byte("PE\x00\x00"), pe.FileHeader{Machine: machine, Characteristics: kind})
}

func TestAProgramSaysForWhichPlatformItIs(t *testing.T) {
	t.Parallel()
	for want, program := range map[Platform][]byte{
		{"linux", "amd64"}:   elfOf(t, elf.ET_EXEC, elf.EM_X86_64),
		{"linux", "arm64"}:   elfOf(t, elf.ET_DYN, elf.EM_AARCH64),
		{"darwin", "amd64"}:  machoOf(t, macho.TypeExec, macho.CpuAmd64),
		{"darwin", "arm64"}:  machoOf(t, macho.TypeExec, macho.CpuArm64),
		{"windows", "amd64"}: peOf(t, pe.IMAGE_FILE_EXECUTABLE_IMAGE, pe.IMAGE_FILE_MACHINE_AMD64),
		{"windows", "arm64"}: peOf(t, pe.IMAGE_FILE_EXECUTABLE_IMAGE, pe.IMAGE_FILE_MACHINE_ARM64),
	} {
		if got, err := platformOf(program); err != nil || got != want {
			t.Errorf("a program of %v is taken for %v: %v", want, got, err)
		}
	}
	for want, program := range map[string][]byte{
		"neither ELF nor PE":                []byte("#!/bin/sh\necho postbag\n"),
		"EOF":                               nil,
		"a processor that is none of ours":  elfOf(t, elf.ET_EXEC, elf.EM_RISCV),
		"an object file, and no program":    elfOf(t, elf.ET_REL, elf.EM_X86_64),
		"a library or an object file":       machoOf(t, macho.TypeDylib, macho.CpuArm64),
		"library or an object file, and no": peOf(t, 0, pe.IMAGE_FILE_MACHINE_AMD64),
		"release: EOF":                      elfOf(t, elf.ET_EXEC, elf.EM_X86_64)[:20],
	} {
		if got, err := platformOf(program); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q is taken for %v: %v, want %s", program, got, err, want)
		}
	}
}
