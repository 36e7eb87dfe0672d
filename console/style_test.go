package console

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance is how bright a color is, as WCAG says.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(color, "#"), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	part := func(shift uint) float64 {
		v := float64(n>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

func TestTextsCanBeReadInLightAndDark(t *testing.T) {
	t.Parallel()
	text, err := files.ReadFile("pages/style.css")
	if err != nil {
		t.Fatal(err)
	}
	sheets := regexp.MustCompile(`:root \{[^}]*\}`).FindAllString(string(text), -1)
	if len(sheets) != 2 {
		t.Fatalf("there are %d sets of colors, want one for light and one for dark", len(sheets))
	}
	for i, sheet := range sheets {
		colors := make(map[string]string)
		for _, m := range regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`).FindAllStringSubmatch(sheet, -1) {
			colors[m[1]] = m[2]
		}
		for _, back := range []string{"paper", "raised"} {
			for _, front := range []string{"ink", "quiet", "link", "good", "bad", "warn"} {
				a, b := luminance(t, colors[back]), luminance(t, colors[front])
				if contrast := (max(a, b) + 0.05) / (min(a, b) + 0.05); contrast < 4.5 {
					t.Errorf("in set %d %s on %s has a contrast of %.1f", i, front, back, contrast)
				}
			}
		}
	}
}

func TestTheStyleSheetLoadsNothing(t *testing.T) {
	t.Parallel()
	text, err := files.ReadFile("pages/style.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"url(", "@import", "@font-face", "http"} {
		if strings.Contains(string(text), word) {
			t.Errorf("the style sheet has %s", word)
		}
	}
}
