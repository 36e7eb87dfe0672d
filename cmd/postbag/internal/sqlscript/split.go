package sqlscript

import (
	"regexp"
	"strings"
)

// Split takes a script apart into its statements, each without the semicolon at its
// end and with the comments before it. It knows the quotes, comments and dollar
// quotes of the stores' databases, and the triggers of SQLite; backslashes in quotes
// have no meaning for it, since the stores print none.
func Split(script string) []string {
	var out []string
	for len(script) > 0 {
		end, next := statementEnd(script)
		if text := strings.TrimSpace(script[:end]); hasSQL(text) {
			out = append(out, text)
		}
		script = script[next:]
	}
	return out
}

// statementEnd returns where the first statement ends, and where the next begins.
func statementEnd(script string) (end, next int) {
	var words strings.Builder // what is neither quoted nor a comment
	for i := 0; i < len(script); {
		skip := opaque(script[i:])
		switch {
		case skip > 0:
			i += skip
		case script[i] == ';' && endsAt(words.String()):
			return i, i + 1
		default:
			words.WriteByte(script[i])
			i++
		}
	}
	return len(script), len(script)
}

var (
	trigger  = regexp.MustCompile(`(?is)^\s*CREATE\s+(TEMP\s+)?TRIGGER\s`)
	blockEnd = regexp.MustCompile(`(?is);\s*END\s*$`)
	dollar   = regexp.MustCompile(`^\$[A-Za-z_]*\$`)
)

// endsAt says that a semicolon behind these words ends their statement: that of a
// trigger has statements of its own, up to an END.
func endsAt(words string) bool { return !trigger.MatchString(words) || blockEnd.MatchString(words) }

// opaque returns how long the comment or the quoted text is with which a script
// begins, zero: it begins with neither.
func opaque(script string) int {
	if tag := dollar.FindString(script); tag != "" {
		return upTo(script, len(tag), tag)
	}
	switch {
	case strings.HasPrefix(script, "--"):
		return upTo(script, 2, "\n")
	case strings.HasPrefix(script, "/*"):
		return upTo(script, 2, "*/")
	case strings.ContainsRune("'\"`", rune(script[0])): // a doubled quote is two texts
		return upTo(script, 1, script[:1])
	}
	return 0
}

// upTo returns where the first end behind from ends.
func upTo(script string, from int, end string) int {
	n := strings.Index(script[from:], end)
	if n < 0 {
		return len(script)
	}
	return from + n + len(end)
}

// hasSQL says that a text is more than comments.
func hasSQL(text string) bool {
	for len(text) > 0 {
		if !strings.HasPrefix(text, "--") && !strings.HasPrefix(text, "/*") {
			return true
		}
		text = strings.TrimSpace(text[opaque(text):])
	}
	return false
}
