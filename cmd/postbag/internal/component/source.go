package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/source"
)

// sourceOpener is what settings of every kind of source implement.
type sourceOpener interface {
	config.Settings
	// openSource opens a source. onFault hears of what no call reports. With dry it only
	// looks whether it could, and returns nil.
	openSource(ctx context.Context, onFault func(error), dry bool) (source.Source, error)
}

// keptOpener is implemented by settings whose source keeps its position in the store of its
// box, if they say so.
type keptOpener interface {
	keepsPosition() bool
	// openKept is openSource for such settings.
	openKept(ctx context.Context, positions source.Positions, onFault func(error), dry bool) (source.Source, error)
}

// noPositions are those of a source that is not opened.
type noPositions struct{ source.Positions }

// OpenSource opens the source that s describes, whose box is in a store. onFault hears of what
// no call of the source reports, from goroutines of it.
func OpenSource(ctx context.Context, s config.Intake, in *Store, onFault func(error)) (source.Source, error) {
	from, err := openSource(ctx, s, in.Positions, onFault, false)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", s.Name, err)
	}
	return from, nil
}

// CheckSource looks whether the source of s could be opened: that its secrets are there
// and its settings fit. It talks to no server.
func CheckSource(ctx context.Context, s config.Intake) error {
	_, err := openSource(ctx, s, noPositions{}, func(error) {}, true)
	return exit.With(exit.Usage, err)
}

func openSource(ctx context.Context, s config.Intake, positions source.Positions, onFault func(error), dry bool) (source.Source, error) {
	if kept, can := s.From.Settings.(keptOpener); can && kept.keepsPosition() {
		return kept.openKept(ctx, positions, onFault, dry)
	}
	settings, ok := s.From.Settings.(sourceOpener)
	if !ok {
		return nil, fmt.Errorf("this program holds no source of kind %.40q; see postbag version --components", s.From.Kind)
	}
	return settings.openSource(ctx, onFault, dry)
}

// orderOf is what the word of a setting order says.
func orderOf(word string) source.Order {
	if word == "stream" {
		return source.OrderStream
	}
	return source.OrderNone
}

// need adds a mistake for a setting that is empty.
func need(r config.Report, setting, value, fix string) {
	if strings.TrimSpace(value) == "" {
		r.Atf("", "has no %s; %s", setting, fix)
	}
}
