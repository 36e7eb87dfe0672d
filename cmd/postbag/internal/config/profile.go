package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// profiles notes what the chosen profile says, and looks for mistakes in the others.
func (b *binder) profiles(n ast.Node) {
	b.eachItem("profiles", n, func(name string, item *ast.MappingValueNode) {
		path := below("profiles", name)
		if !componentName.MatchString(name) {
			b.line(lineOf(item.Key), path+" is no name; use letters, digits, - and _, at most 63")
		}
		*b.found = append(*b.found, name)
		if name == b.source.Profile {
			b.chosen = item.Value
			return
		}
		apart := *b
		apart.source.Elsewhere = true // its variables need not be there
		apart.value(path, item.Value, reflect.ValueOf(new(File)).Elem())
	})
}

// checkProfile checks that the profile that somebody asked for is there.
func (s Source) checkProfile(p *problems, there []string) {
	if s.Profile == "" || slices.Contains(there, s.Profile) {
		return
	}
	if len(there) == 0 {
		p.atf("", "has no profiles; leave --profile (or POSTBAG_PROFILE) out, or write profiles: {%.40s: {...}}", Redact(s.Profile))
		return
	}
	slices.Sort(there)
	p.atf("profiles", "there is none called %.40q; there are %s", Redact(s.Profile), strings.Join(slices.Compact(there), ", "))
}
