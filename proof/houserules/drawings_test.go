package houserules_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A drawing was rendered from the source that lies beside it, and a page shows it.
func TestDrawingsMatchTheirSources(t *testing.T) {
	t.Parallel()
	c := open(t)
	sources, err := filepath.Glob(filepath.Join(c.root, "docs", "drawings", "*.d2"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("docs/drawings has %d sources: %v", len(sources), err)
	}
	var pages strings.Builder
	for _, file := range c.committed(t) {
		if strings.HasSuffix(file, ".md") {
			text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			pages.Write(text)
		}
	}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		drawing := strings.TrimSuffix(source, ".d2") + ".svg"
		drawn, err := os.ReadFile(drawing)
		if err != nil || !strings.Contains(string(drawn), fmt.Sprintf("sha256 %x ", sha256.Sum256(text))) {
			t.Errorf("%s is not drawn from its source as that is now: run scripts/drawings", filepath.Base(drawing))
		}
		if !strings.Contains(pages.String(), "drawings/"+filepath.Base(drawing)) {
			t.Errorf("no page shows %s", filepath.Base(drawing))
		}
	}
}
