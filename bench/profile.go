package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
)

// profile writes what the CPU did while the stopwatch ran: one file a sample. Of a
// sample that starts the stopwatch more than once it is the first time. Without a
// folder it does nothing.
type profile struct {
	folder string
	name   string // of the sample that is being taken
	count  int
	file   *os.File
	err    error
}

// next names the sample that is taken next.
func (p *profile) next(scenario, way string) {
	p.count++
	p.name = strings.ReplaceAll(fmt.Sprintf("%s-%s-%d.pprof", scenario, way, p.count), " ", "-")
}

func (p *profile) start() {
	if p.folder == "" || p.file != nil || p.err != nil {
		return
	}
	if p.err = os.MkdirAll(p.folder, 0o750); p.err != nil {
		return
	}
	if p.file, p.err = os.Create(filepath.Join(p.folder, p.name)); p.err == nil {
		p.err = pprof.StartCPUProfile(p.file)
	}
}

// end ends the profile of a stopwatch; stop writes it out.
func (p *profile) end() {
	if p.file != nil {
		pprof.StopCPUProfile()
	}
}

// stop returns what went wrong with the profile of the sample.
func (p *profile) stop() error {
	err := p.err
	if p.file != nil {
		p.end()
		err = errors.Join(err, p.file.Close())
	}
	p.file, p.err = nil, nil
	return err
}
