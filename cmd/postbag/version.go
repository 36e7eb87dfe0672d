package main

import (
	"cmp"
	"regexp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// build is what the program knows of itself.
type build struct {
	Version    string                `json:"version"`
	Revision   string                `json:"revision,omitempty"`
	Modified   bool                  `json:"modified,omitempty"`
	Go         string                `json:"go"`
	Platform   string                `json:"platform"`
	Components []component.Component `json:"components,omitempty"`
}

func newVersionCommand(c *terminal.Terminal) *cobra.Command {
	var components bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which version this is, and what it is made of",
		Args:  none,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if components {
				b.Components = component.List()
			}
			return showBuild(c, &b)
		},
	}
	cmd.Flags().BoolVar(&components, "components", false, "list the kinds of stores and destinations too")
	return cmd
}

func thisBuild() build {
	b := build{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "(devel)" {
		b.Version = cmp.Or(v, b.Version)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if b.Revision == "" {
		b.Revision = pseudoRevision(b.Version)
	}
	return b
}

// pseudoVersion is the end of a pseudo-version: a time, and twelve digits of the
// commit (Go Modules Reference, "Pseudo-versions").
var pseudoVersion = regexp.MustCompile(`[.-]\d{14}-([0-9a-f]{12})(\+dirty)?$`)

// pseudoRevision returns the commit that a pseudo-version names, if it is one: a
// program that go install made of a module has no other sign of it.
func pseudoRevision(version string) string {
	if m := pseudoVersion.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	return ""
}

// commit says of which commit the program was built.
func (b *build) commit() string {
	switch {
	case b.Revision == "":
		return "(commit unknown: build with make build, or go build -buildvcs=true)"
	case b.Modified:
		return b.Revision + " with changes"
	default:
		return b.Revision
	}
}

func showBuild(c *terminal.Terminal, b *build) error {
	if c.JSON {
		return c.Emit(b)
	}
	c.Sayf("postbag %s %s %s %s", b.Version, b.commit(), b.Go, b.Platform)
	if len(b.Components) == 0 {
		return nil
	}
	rows := make([][]string, 0, len(b.Components))
	for _, one := range b.Components {
		rows = append(rows, []string{one.What, one.Kind, one.Module})
	}
	return c.Table([]string{"COMPONENT", "KIND", "MODULE"}, rows)
}
