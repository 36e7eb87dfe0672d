package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// YAML returns the text of the file.
func (e *Exported) YAML(head []string) string {
	var b strings.Builder
	for _, line := range slices.Concat(head, e.Notes) {
		comment(&b, "", line)
	}
	fmt.Fprintf(&b, "store: %s\n", yamlOf(e.Store.Settings))
	for _, part := range []struct {
		name     string
		sections []Section
	}{{"destinations", e.Destinations}, {"boxes", e.Boxes}} {
		if len(part.sections) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", part.name)
		for _, s := range part.sections {
			comment(&b, "  ", s.Comment)
			fmt.Fprintf(&b, "  %s: %s\n", yamlOf(s.Name), yamlOf(s.Settings))
		}
	}
	if len(e.Subscriptions) == 0 {
		b.WriteString("subscriptions: []\n")
		return b.String()
	}
	b.WriteString("subscriptions:\n")
	for _, s := range e.Subscriptions {
		comment(&b, "  ", s.Comment)
		fmt.Fprintf(&b, "  - %s\n", yamlOf(s.Settings))
	}
	return b.String()
}

// comment writes a comment of one line, whatever text holds.
func comment(b *strings.Builder, indent, text string) {
	if text == "" {
		return
	}
	text = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return '·'
		}
		return r
	}, text)
	fmt.Fprintf(b, "%s# %s\n", indent, text)
}

// Document returns the file as JSON has it, which is a configuration too.
func (e *Exported) Document() map[string]any {
	out := map[string]any{"store": document(e.Store.Settings)}
	for name, sections := range map[string][]Section{"destinations": e.Destinations, "boxes": e.Boxes} {
		if len(sections) == 0 {
			continue
		}
		part := make(map[string]any)
		for _, s := range sections {
			part[s.Name] = document(s.Settings)
		}
		out[name] = part
	}
	list := []any{}
	for _, s := range e.Subscriptions {
		list = append(list, document(s.Settings))
	}
	out["subscriptions"] = list
	return out
}

func document(settings []Setting) map[string]any {
	out := make(map[string]any)
	for _, s := range settings {
		switch v := s.Value.(type) {
		case []Setting:
			out[s.Name] = document(v)
		case [][]Setting:
			list := make([]map[string]any, len(v))
			for i := range v {
				list[i] = document(v[i])
			}
			out[s.Name] = list
		case string:
			out[s.Name] = unexpanded(v)
		case []string:
			list := make([]string, len(v))
			for i := range v {
				list[i] = unexpanded(v[i])
			}
			out[s.Name] = list
		default:
			out[s.Name] = v
		}
	}
	return out
}

// unexpanded writes ${ so that a configuration reads it as these characters.
func unexpanded(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// yamlOf writes a value on one line.
func yamlOf(value any) string {
	switch v := value.(type) {
	case string:
		return yamlText(v)
	case []string:
		out := make([]string, len(v))
		for i := range v {
			out[i] = yamlText(v[i])
		}
		return "[" + strings.Join(out, ", ") + "]"
	case []Setting:
		out := make([]string, len(v))
		for i := range v {
			out[i] = yamlText(v[i].Name) + ": " + yamlOf(v[i].Value)
		}
		return "{" + strings.Join(out, ", ") + "}"
	case [][]Setting:
		out := make([]string, len(v))
		for i := range v {
			out[i] = yamlOf(v[i])
		}
		return "[" + strings.Join(out, ", ") + "]"
	default:
		return fmt.Sprint(v)
	}
}

// plain is what YAML reads as text without quotation marks: a name, or a duration.
var plain = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_-]*|([0-9]+[wdhms])+)$`)

// yamlText writes a text, in quotation marks where YAML might read something else.
func yamlText(text string) string {
	if plain.MatchString(text) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text)) {
		return text
	}
	return strconv.QuoteToGraphic(unexpanded(text)) // YAML has all of Go's escapes
}
