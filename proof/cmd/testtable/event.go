package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// event is one line of "go test -json" (go doc test2json; build events: go help buildjson).
type event struct {
	Action     string  `json:"Action"`
	Package    string  `json:"Package"`
	ImportPath string  `json:"ImportPath"`
	Test       string  `json:"Test"`
	Output     string  `json:"Output"`
	Elapsed    float64 `json:"Elapsed"`
	Key        string  `json:"Key"`   // of an attribute
	Value      string  `json:"Value"` // of an attribute
}

// readEvents calls f for each event up to the end. A line that is no event is an error: results may be missing.
func readEvents(in io.Reader, f func(event)) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if bad := json.Unmarshal(line, &e); bad != nil {
				return fmt.Errorf("a line of go test -json cannot be read: %w: %s", bad, strings.TrimSpace(string(line)))
			}
			f(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
