package release

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
)

// The processors of each form of programs, by Go's names.
var (
	elfArch   = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}
	machoArch = map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}
	peArch    = map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}
)

// platformOf says for which platform a program was built, by its magic bytes and its header: ELF is that of Linux, Mach-O that of
// macOS, PE that of Windows.
func platformOf(program []byte) (Platform, error) {
	in := bytes.NewReader(program)
	if bytes.HasPrefix(program, []byte(elf.ELFMAG)) {
		f, err := elf.NewFile(in)
		if err != nil {
			return Platform{}, fmt.Errorf("release: %w", err)
		}
		return known("linux", elfArch[f.Machine], f.Type == elf.ET_EXEC || f.Type == elf.ET_DYN)
	}
	if bytes.HasPrefix(program, []byte("MZ")) {
		f, err := pe.NewFile(in)
		if err != nil {
			return Platform{}, fmt.Errorf("release: %w", err)
		}
		return known("windows", peArch[f.Machine], f.Characteristics&pe.IMAGE_FILE_EXECUTABLE_IMAGE != 0)
	}
	f, err := macho.NewFile(in)
	if err != nil {
		return Platform{}, fmt.Errorf("release: neither ELF nor PE: %w", err)
	}
	return known("darwin", machoArch[f.Cpu], f.Type == macho.TypeExec)
}

func known(system, arch string, program bool) (Platform, error) {
	if arch == "" {
		return Platform{}, errors.New("release: a program for a processor that is none of ours")
	}
	if !program {
		return Platform{}, errors.New("release: a library or an object file, and no program")
	}
	return Platform{system, arch}, nil
}
