package houserules_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The map of the house in CONTRIBUTING.md has every folder at the top and below the seams, and no other.
func TestTheFolderMapOfContributingIsComplete(t *testing.T) {
	t.Parallel()
	c := open(t)
	page, err := os.ReadFile(filepath.Join(c.root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## Where things are\n\n```\n")
	drawing, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("CONTRIBUTING.md has no map under Where things are")
	}
	var drawn []string
	above := ""
	for line := range strings.Lines(drawing) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		name = strings.TrimSuffix(name, "/")
		if strings.TrimSpace(text) == "" {
			t.Errorf("the map says nothing of %s", name)
		}
		if strings.HasPrefix(line, " ") {
			name = path.Join(above, name)
		} else {
			above = name
		}
		if info, err := os.Stat(filepath.Join(c.root, filepath.FromSlash(name))); err != nil || !info.IsDir() {
			t.Errorf("the map has %s, which is no folder", name)
		}
		drawn = append(drawn, name)
	}
	for _, below := range []string{".", "store", "broker", "source"} {
		for _, file := range c.committed(t) {
			folder := folderIn(file, below)
			if folder != "" && !slices.Contains(drawn, folder) && !slices.ContainsFunc(drawn, func(d string) bool { return strings.HasPrefix(d, folder+"/") }) {
				t.Errorf("the map in CONTRIBUTING.md has no %s: say what it is", folder)
				drawn = append(drawn, folder)
			}
		}
	}
}

// folderIn returns the folder right below another that a file is in. Folders that begin with a point are the tools'.
func folderIn(file, below string) string {
	if below != "." {
		rest, ok := strings.CutPrefix(file, below+"/")
		if !ok {
			return ""
		}
		file = rest
	}
	folder, _, inside := strings.Cut(file, "/")
	if !inside || strings.HasPrefix(folder, ".") {
		return ""
	}
	return path.Join(below, folder)
}
