package browser

import (
	"crypto/sha256"
	_ "embed" // axe-core
	"encoding/hex"
	"encoding/json"
	"testing"
)

//go:embed testdata/axe-core/axe.min.js
var axeCore string

// axeCoreSum is that of axe.min.js of axe-core 4.14.1, as its authors put it on npm.
const axeCoreSum = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"

// violation is what axe-core finds.
type violation struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"`
}

// axe runs rules of axe-core in the page, or all of them.
func axe(p *tab, rules ...string) []violation {
	p.t.Helper()
	js[bool](p, axeCore+"\ntrue")
	options := map[string]any{"resultTypes": []string{"violations"}}
	if len(rules) > 0 {
		options["runOnly"] = rules
	}
	text, err := json.Marshal(options)
	p.must(err)
	return js[[]violation](p, `axe.run(document, `+string(text)+`).then((r) => r.violations.map((v) => ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200))})))`)
}

func TestAxeCoreIsTheFileOfItsAuthors(t *testing.T) {
	t.Parallel()
	if sum := sha256.Sum256([]byte(axeCore)); hex.EncodeToString(sum[:]) != axeCoreSum {
		t.Errorf("the sum of testdata/axe-core/axe.min.js is %x; take the file of the npm package again, and put its sum here if you change the version", sum)
	}
}
