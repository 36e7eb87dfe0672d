package main

import (
	"log"
	"log/slog"
	"strings"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// newLogger logs to standard error, because standard output may be a destination. What
// looks like a secret in an error is taken out, and fields of Go become settings.
func newLogger(c *terminal.Terminal, l config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l.Level)) // checked when it was read; the zero level is info
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case error:
			a.Value = slog.StringValue(readable(c, v.Error()))
		case string:
			a.Value = slog.StringValue(readable(c, v))
		}
		return a
	}}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(c.Err, o))
	}
	return slog.New(slog.NewTextHandler(c.Err, o))
}

// readable puts a text of a library into the words of its reader, without what looks like a secret.
func readable(c *terminal.Terminal, text string) string { return config.Redact(c.InWords(text)) }

// hearLibraries has the lines of libraries that print with the standard logger, as net/http does, go to the log.
func hearLibraries(logger *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(libraries{logger})
}

// libraries logs what a library prints, up to the first quotation mark: behind it stands what came from outside. An endpoint that
// sends more than its answer is quoted with what it sends, which may be the request it got, payload and credentials.
type libraries struct{ to *slog.Logger }

// Write takes one line.
func (l libraries) Write(line []byte) (int, error) {
	text, _, cut := strings.Cut(strings.TrimSpace(string(line)), `"`)
	if cut {
		text = strings.TrimSpace(text) + " ..."
	}
	l.to.Warn("postbag: a library says something", "text", text)
	return len(line), nil
}
